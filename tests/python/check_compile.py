"""Compiles every fenced JavaScript and TypeScript block of outputs: python check_compile.py FILE.

FILE holds one `{"id", "output"}` object a line. Each block is checked as one of a batch and, a
sample of them, alone by the compiler's own process; both must say the same.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import scoregate
from scoregate import _native, compile_check
from scoregate.compile_check import _checker as checker
from scoregate.compile_check import _registry as registry

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("javascript", "typescript")

#: Of so many blocks one is also compiled by a process of its own.
SAMPLE = {"javascript": 5, "typescript": 15}


def blocks(path: str) -> dict[str, list[str]]:
    """The code of all blocks, by language."""
    found: dict[str, list[str]] = {name: [] for name in LANGUAGES}
    spec = {"type": "code-compiles", "language": "auto", "fence": "all"}
    with open(path, encoding="utf-8") as file:
        for line in file:
            for language, code in _native.what_to_compile(spec, json.loads(line)["output"])[0]:
                if language in found and "```" in line:
                    found[language].append(code)
    return found


def main() -> int:
    bin_folder = ROOT / "target" / "node" / "node_modules" / ".bin"
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    wrong = 0
    for name, codes in blocks(sys.argv[1]).items():
        language = registry.find(name)
        assert language is not None
        try:
            language.commands(b"")
        except compile_check.UnavailableError as error:
            print(f"code-compiles: {name}: not checked: {error}")
            continue
        gate = scoregate.Gate(
            {"scorers": [{"type": "code-compiles", "language": name, "fence": "raw"}]}
        )
        started = time.perf_counter()
        batch = gate.score_batch(codes)
        seconds = time.perf_counter() - started
        details: list[str | None] = [row.results[0].detail for row in batch]
        refused = Counter(
            "syntax" if "SyntaxError" in d or "error TS1" in d else "other" for d in details if d
        )
        alone = 0
        compile_check.close()  # nothing is remembered
        for index, code in enumerate(codes):
            if gate.score(code).results[0].detail != details[index]:
                wrong += 1
                print(f"code-compiles: {name}: block {index}: one by one is another")
            if index % SAMPLE[name] == 0:
                alone += 1
                found = checker.check_once(language, code.encode("utf-8", "replace"), 120.0)
                if found.detail != details[index]:
                    wrong += 1
                    print(f"code-compiles: {name}: block {index}: {found.detail!r}")
                    print(f"  in a batch: {details[index]!r}")
        rate = len(codes) / seconds if seconds else 0.0
        print(
            f"code-compiles: {name}: {len(codes):,} blocks ({len(set(codes)):,} different), "
            f"{batch.summary()['pass']:,} accepted, {dict(refused)} refused; {rate:,.0f} a second; "
            f"{alone:,} by a process each; {wrong} wrong"
        )
    compile_check.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
