"""How many snippets a second compilers check, each started for one or kept for many."""

from __future__ import annotations

import os
import time

from harness import ROOT, Run, table
from scoregate import Gate, compile_check
from scoregate.compile_check import _checker as checker
from scoregate.compile_check import _registry as registry

TITLE = "Compiling code"
ABOUT = """
`code-compiles` on different snippets, of which one in four is broken: a compiler started for each
(`node --check`; the TypeScript compiler by our script), against a batch, whose workers keep the
compiler loaded. Both are isolated, both use all cores, and both must say the same of every snippet.
Rates are of wall time, and the workers' start is within.
"""

TEMPLATES = {
    "javascript": (
        "export function total{n}(items) {{\n"
        "  let sum = 0;\n  for (const item of items) sum += item.price * {n};\n  return sum;\n}}\n",
        "const broken{n} = [1, 2, {n}\nlet more;\n",
    ),
    "typescript": (
        "interface Item{n} {{ price: number; name: string }}\n"
        "export function total{n}(items: Item{n}[]): number {{\n"
        "  return items.map((item) => item.price * {n}).reduce((a, b) => a + b, 0);\n}}\n",
        "export const broken{n}: number = 'text {n}';\n",
    ),
}


def snippets(language: str, count: int) -> list[str]:
    good, bad = TEMPLATES[language]
    return [(bad if n % 4 == 3 else good).format(n=n) for n in range(count)]


def one_shot(language: str, codes: list[str]) -> tuple[float, list[str | None]]:
    from concurrent.futures import ThreadPoolExecutor

    known = registry.find(language)
    assert known is not None
    started = time.perf_counter()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(lambda c: checker.check_once(known, c.encode(), 120.0).detail, codes))
    return time.perf_counter() - started, found


def pooled(language: str, codes: list[str]) -> tuple[float, list[str | None]]:
    spec = {"scorers": [{"type": "code-compiles", "language": language}]}
    compile_check.close()
    started = time.perf_counter()
    batch = Gate(spec).score_batch(codes)
    seconds = time.perf_counter() - started
    return seconds, [row.results[0].detail for row in batch]


def run(run: Run) -> str:
    place = ROOT / "target" / "node" / "node_modules" / ".bin"
    os.environ["PATH"] = f"{place}{os.pathsep}{os.environ['PATH']}"
    lines = []
    for language, alone, many in (("javascript", 60, 6000), ("typescript", 16, 1500)):
        if run.quick:
            alone, many = alone // 2, many // 4
        codes = snippets(language, many)
        few, wanted = one_shot(language, codes[:alone])
        all_, found = pooled(language, codes)
        if found[:alone] != wanted:
            raise SystemExit(f"{language}: a batch says something else")
        one, batch = alone / few, many / all_
        lines.append(
            [
                language,
                f"{alone:,}",
                f"{one:,.1f}",
                f"{many:,}",
                f"{batch:,.0f}",
                f"**{batch / one:,.0f}x**",
            ]
        )
    compile_check.close()
    head = ["", "one by one", "snippets/s", "in a batch", "snippets/s", "ratio"]
    return table(head, lines)
