"""Times scoregate against its peers.

    python benches/python/run.py            everything; writes docs/benchmarks.md
    python benches/python/run.py --quick    a small corpus; writes nothing
    python benches/python/run.py --only gate lines

A section is a module beside this file with `TITLE`, `ABOUT` and `run(run) -> Markdown`, and a word
in `SECTIONS`. It checks that all sides answer the same before it times any of them. Nothing here
asserts a time.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

import scoregate._native
from harness import ROOT, Run, machine, versions

sys.path.insert(0, str(ROOT / "benches" / "corpus"))

from make_corpus import rows

SECTIONS = (
    "gate",
    "lines",
    "threads",
    "tables_bench",
    "scorers",
    "regex_bench",
    "json_bench",
    "json_accuracy",
    "schema_bench",
    "judge_bench",
    "compile_bench",
    "flow_bench",
    "package",
)
PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `make bench`; `make bench-quick` prints the same over a small corpus. Do not edit.

Before anything is timed, every side must give the same verdicts, scores and failed scorers on every
row. Times are medians of {repeats} rounds; each round runs every side once, on fresh copies of the
texts. CPU seconds are the measure, since wall time on a shared machine is noise: rates are a CPU
second, and ratios are of CPU seconds, within this one run. Nothing here is a promise about another machine: run it on yours.

- Machine: {machine}
- Versions: scoregate {version} (release build), {versions}
- Corpus: {rows:,} rows, {megabytes:.1f} MB, made by `benches/corpus/make_corpus.py`: 45% clean JSON,
  20% prose with a json fence, 10% prose with JSON inside, 10% broken JSON, 15% prose
- Date: {date}
"""


def body(run: Run, only: list[str]) -> str:
    """The chosen sections, each between markers by which other pages include it."""
    parts = []
    for name in only:
        section = importlib.import_module(name)
        started = time.perf_counter()
        text = section.run(run)
        print(f"\n## {section.TITLE}\n\n{text}", flush=True)
        print(f"({name}: {time.perf_counter() - started:.0f} s)", file=sys.stderr, flush=True)
        marked = f"<!-- --8<-- [start:{name}] -->\n{text}<!-- --8<-- [end:{name}] -->\n"
        parts.append(f"\n## {section.TITLE}\n{section.ABOUT}\n{marked}")
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus; writes nothing")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, help="these sections; writes nothing"
    )
    parser.add_argument("--rows", type=int, help="rows of the corpus")
    args = parser.parse_args()
    if scoregate._native.BUILD_PROFILE != "release":
        sys.exit("this is a debug build, whose times mean nothing: make build")
    repeats = 3 if args.quick else 7
    corpus = list(rows(args.rows or (10_000 if args.quick else 100_000)))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(args.quick, repeats, corpus, Path(folder))
        head = HEAD.format(
            repeats=repeats,
            machine=machine(),
            version=scoregate.__version__,
            versions=versions("orjson", "jsonschema-rs", "msgspec", "jsonschema"),
            rows=len(corpus),
            megabytes=run.megabytes,
            date=time.strftime("%Y-%m-%d"),
        )
        print(head.partition("\n\n- ")[2].join(("- ", "")), flush=True)
        text = body(run, args.only or list(SECTIONS))
    if not (args.quick or args.only or args.rows):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(head + text, encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
