"""JavaScript regular expressions against CPython's `re` and Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import scoregate
from harness import ROOT, Run, compare, fresh, same, seconds, table

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

TITLE = "JavaScript regular expressions"
ABOUT = """
Forty checks as people write them (dates, emails, headings, fences, "does not contain", word counts
by lookahead, CJK, emoji) over the corpus. *Together* is one gate of forty `regex` scorers
(`threads=1`, `details="none"`) against a loop over forty compiled patterns; *alone* is a loop over
`JsRegex.test` against a loop over `pattern.search`. CPython's `re` runs with `re.ASCII`, and where
it writes a pattern in another way, that one. Node runs the same patterns in its own process.
"""
FOLDER = ROOT / "benches" / "js_regex"

#: Patterns on which a backtracking engine takes for ever, and their texts.
HOSTILE: list[tuple[str, str, str]] = [
    ("nested quantifiers", r"^(a+)+$", "a" * 100_000 + "!"),
    ("two ways for a letter", r"^(a|a)*$", "a" * 100_000 + "!"),
    ("everything, repeated", r"(.*)*x", "a" * 100_000),
    ("overlapping words", r"^(\w+\s?)*$", "word " * 20_000 + "!"),
    ("lookbehind in a loop", r"(?<=(?:a+)+)b", "a" * 30_000),
    ("lookahead in a loop", r"^(?:(?=.*b)a)*$", "a" * 3_000),
    ("2,000 states in step", r"[01]*1[01]{2000}[c-z]", "01" * 100_000),
    ("a huge count", r"^(?:a?){1000}a{1000}$", "a" * 1_000),
    ("a pattern of 64 KiB", "(?:" + "|".join(f"word{i:05}" for i in range(6_500)) + ")$", "word " * 20_000),
    ("a length rule", r"^[\s\S]{1,4000}$", "x" * 1_000_000),
    ("backreference bomb", r"^(a|aa)+\1{3}$", "a" * 60 + "b"),
    ("backreferences nested", r"^(?:(.+)\1)+$", "ab" * 400 + "c"),
]  # fmt: skip


def read_checks() -> list[dict[str, str]]:
    with open(FOLDER / "checks.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def in_python(check: dict[str, str]) -> re.Pattern[str]:
    """The check as CPython writes it."""
    sys.path.insert(0, str(FOLDER))
    from cpython import compiled

    return compiled(check)


def node_total(run: Run) -> float | None:
    """Nanoseconds a text of all checks in Node; None where it cannot be run."""
    node = shutil.which("node")
    if node is None:
        return None
    command = [node, str(FOLDER / "node.mjs"), str(run.jsonl())]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return sum(float(json.loads(line)["ns"]) for line in out.stdout.splitlines())


def alone(test: Callable[[str], Any]) -> Callable[[list[str]], object]:
    return lambda texts: [None for text in texts if test(text)]


def run(run: Run) -> str:
    texts = run.texts if run.quick else run.texts[:20_000]
    repeats = min(run.repeats, 3)
    checks = read_checks()
    spec = [{"type": "regex", "pattern": c["pattern"], "flags": c["flags"]} for c in checks]
    gate = scoregate.Gate({"scorers": spec})
    patterns = [in_python(check) for check in checks]
    regexes = [scoregate.JsRegex(c["pattern"], c["flags"]) for c in checks]
    for check, pattern, regex in zip(checks, patterns, regexes, strict=True):
        want = [regex.test(text) for text in texts]
        same(f"re, {check['name']}", want, [pattern.search(text) is not None for text in texts])

    def loop(texts: list[str]) -> object:
        return [[pattern.search(text) is not None for pattern in patterns] for text in texts]

    together = compare(
        {
            "scoregate": lambda texts: gate.score_batch(texts, threads=1, details="none"),
            "re": loop,
        },
        repeats,
        lambda: fresh(texts),
    )
    ours, theirs = together["scoregate"].cpu, together["re"].cpu
    lines = [
        ["**scoregate**", seconds(ours), f"{ours * 1e6 / len(texts):.1f}", "1.0x"],
        ["re", seconds(theirs), f"{theirs * 1e6 / len(texts):.1f}", f"{theirs / ours:.1f}x"],
    ]
    node = node_total(run)
    if node is not None:
        total = node * 1e-9 * len(texts)
        lines.append(["Node (V8)", seconds(total), f"{node / 1e3:.1f}", f"{total / ours:.1f}x"])
    text = f"\nTogether, {len(texts):,} texts:\n\n"
    text += table(["", "CPU", "µs a text", "CPU ratio"], lines)
    rows = []
    for check, pattern, regex in zip(checks, patterns, regexes, strict=True):
        things = {"scoregate": alone(regex.test), "re": alone(pattern.search)}
        timings = compare(things, repeats, lambda: fresh(texts))
        mine, its = (timings[name].cpu * 1e9 / len(texts) for name in things)
        rows.append([check["name"], f"{mine:,.0f}", f"{its:,.0f}", f"{its / mine:.1f}x"])
    text += "\nAlone, nanoseconds a text:\n\n" + table(["", "scoregate", "re", "ratio"], rows)
    return text + hostile()


def hostile() -> str:
    """One call of each hostile case, compile time apart."""
    rows = []
    for name, pattern, text in HOSTILE:
        started = time.process_time()
        regex = scoregate.JsRegex(pattern)
        built = time.process_time()
        try:
            answer = "match" if regex.test(text) else "no match"
        except scoregate.JsRegexBudgetError:
            answer = "budget"
        done = time.process_time()
        rows.append(
            [name, f"{len(text):,}", answer, seconds(built - started), seconds(done - built)]
        )
    head = ["", "characters", "answer", "compile", "test"]
    return "\nHostile patterns and texts, one call each:\n\n" + table(head, rows)
