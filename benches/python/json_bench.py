"""Lenient JSON: right first, then fast."""

from __future__ import annotations

import gc
import importlib
import json
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import scoregate
from harness import Run, compare, fresh, seconds, table
from scoregate import _native, json_repair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TITLE = "Lenient JSON"
ABOUT = """
*Right* is the share of rows whose value is the one that the generator made the text from: a cut
string as far as it got, empty containers kept. Peers that are not installed are left out. A clean
text is valid JSON; all sides give the same values there, and get `str`.
"""
#: Characters of a hostile text.
HOSTILE = 1_000_000
UNITS = {
    "`[`": "[",
    "`{`": "{",
    '`"`': '"',
    "backslashes": "\\",
    '`["`': '["',
    '`{"a":`': '{"a":',
    "`{a:`": "{a:",
    "fences": "```",
    "json fences": "```json\n",
    "open and closed fences": "```json\n[\n```\n",
    "`<think>`": "<think>",
    "`/*`": "/*",
    "`'`": "'",
    "commas": "[,",
    "`](`": "[a](",
    "inner quotes": '{"a": "b" c "',
}


def peer(name: str, function: str) -> Callable[..., Any] | None:
    """A function of a package, where that is installed."""
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(name), function)
    except ImportError:
        return None
    return found


def label(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def each(function: Callable[[str], Any]) -> Callable[[Iterable[str]], int]:
    """A pass over texts; what a peer raises is part of its work."""

    def run(texts: Iterable[str]) -> int:
        raised = 0
        for text in texts:
            try:
                function(text)
            except (ValueError, RecursionError):
                raised += 1
        return raised

    return run


def equal(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def right(function: Callable[[str], Any], rows: Sequence[tuple[str, Any]]) -> float:
    found = 0
    for text, truth in rows:
        with suppress(ValueError, RecursionError, TypeError):
            found += equal(function(text), truth)
    return found / len(rows)


def broken(run: Run) -> str:
    """The broken part of the corpus."""
    rows = [(row.output, row.truth) for row in run.rows if row.kind == "broken"]
    sides: dict[str, Callable[[str], Any]] = {
        "scoregate `json_repair.loads`": json_repair.loads,
        "scoregate `extract_json`": lambda text: scoregate.extract_json(text, repair=True),
    }
    for name in ("json_repair", "fast_json_repair"):
        loads = peer(name, "loads")
        if loads is not None:
            sides[label(name)] = loads
    slow = label("json_repair")
    texts = [text for text, _ in rows]
    quick = {name: each(side) for name, side in sides.items() if name != slow}
    timings = compare(quick, run.repeats, lambda: fresh(texts))
    if slow in sides:
        timings |= compare({slow: each(sides[slow])}, min(run.repeats, 2), lambda: fresh(texts))
    base = timings["scoregate `json_repair.loads`"].cpu
    size = sum(len(text.encode()) for text in texts) / 1e6
    lines = [
        [
            name,
            f"{right(side, rows):.2%}",
            seconds(timings[name].cpu),
            f"{size / timings[name].cpu:,.1f}",
            f"{timings[name].cpu / base:.2f}x",
        ]
        for name, side in sides.items()
    ]
    head = f"{len(rows):,} broken rows, {size:.1f} MB\n\n"
    return head + table(["broken rows", "right", "CPU", "MB/s", "CPU ratio"], lines)


def clean(run: Run) -> str:
    """Valid JSON into Python values."""
    texts = [row.output for row in run.rows if row.kind == "clean"]
    documents = [json.loads(text) for text in texts[:2000]]
    large = json.dumps(documents, ensure_ascii=False)
    sides: dict[str, Callable[[str], Any]] = {
        "scoregate `extract_json`": _native.extract_json,
        "scoregate `parse_json`": _native.parse_json,
        "json.loads": json.loads,
    }
    for name, function in (("orjson", "loads"), ("msgspec", "json")):
        found = peer(name, function)
        if found is not None:
            sides[label(name)] = getattr(found, "decode", found)
    jiter = peer("jiter", "from_json")
    if jiter is not None:
        sides[label("jiter")] = lambda text: jiter(text.encode())
    for name, side in sides.items():
        value = side(texts[0])
        if not equal(getattr(value, "value", value), json.loads(texts[0])):
            raise SystemExit(f"{name}: another value")
    lines = []
    parts = []
    for what, inputs in (("rows", texts), ("one document", [large] * 5)):
        gc.freeze()
        timings = compare(
            {name: each(side) for name, side in sides.items()},
            run.repeats * 3,
            lambda inputs=inputs: fresh(inputs),
        )
        size = sum(len(text.encode()) for text in inputs) / 1e6
        base = timings.get(label("orjson"), timings["json.loads"]).cpu
        lines = [
            [name, seconds(spent.cpu), f"{size / spent.cpu:,.0f}", f"{base / spent.cpu:.2f}x"]
            for name, spent in timings.items()
        ]
        count = len(inputs)
        parts.append(
            f"Clean text, {what} ({count:,}, {size:.1f} MB)\n\n"
            + table(["clean", "CPU", "MB/s", "speed over orjson"], lines)
        )
    return "\n".join(parts)


def best(function: Callable[[], object], repeats: int) -> float:
    """The least CPU time of several runs, in seconds."""
    least = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        function()
        least = min(least, time.process_time() - started)
    return least


def feed(text: str, size: int) -> scoregate.JSONResult:
    stream = scoregate.JSONStream()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    return stream.close()


def single(run: Run) -> str:
    """A late fault, and streams, against one clean parse."""
    repeats = run.repeats * 5
    items = [{"id": i, "name": f"item {i}", "tags": ["a", "b"], "ok": True} for i in range(1500)]
    document = json.dumps(items)[:100_000]
    document = document[: document.rindex(", {")] + "]"
    late = document[:-1] + ",]"
    many = json.dumps([{"id": i, "name": f"item {i}", "v": [1.5, None]} for i in range(20_000)])
    string = json.dumps({"text": "some words in a long text, é\n" * 35_000}, ensure_ascii=False)
    parse = scoregate.parse_json
    if not (parse(late).ok and feed(many, 1024).value == json.loads(many)):
        raise SystemExit("a late fault or a stream gives another value")
    if feed(string, 1024).value != json.loads(string):
        raise SystemExit("a stream gives another value")
    rows = []
    for what, work, base in (
        (
            f"a fault at the end of {len(late):,} bytes",
            lambda: parse(late),
            lambda: parse(document),
        ),
        (
            f"stream, {len(many):,} bytes of many values, 1 kB pieces",
            lambda: feed(many, 1024),
            lambda: parse(many),
        ),
        (
            f"stream, one string of {len(string):,} characters, 1 kB pieces",
            lambda: feed(string, 1024),
            lambda: parse(string),
        ),
    ):
        spent, once = best(work, repeats), best(base, repeats)
        rows.append([what, seconds(spent), seconds(once), f"{spent / once:.2f}x"])
    return table(["", "CPU", "one clean parse", "ratio"], rows)


def hostile(run: Run) -> str:
    """Texts that are made to be slow, 1 MB each."""
    rows = []
    for name, unit in UNITS.items():
        text = unit * (HOSTILE // len(unit))
        spent = best(lambda text=text: scoregate.parse_json(text), 3)
        streamed = best(lambda text=text: feed(text, 4096), 1)
        result = scoregate.parse_json(text)
        given = "a value" if result.error is None else result.error.code
        rows.append([name, f"{spent * 1e3:.1f} ms", f"{streamed * 1e3:.1f} ms", given])
    return table(["1 MB of", "parse", "stream, 4 kB pieces", "gives"], rows)


def run(run: Run) -> str:
    return "\n".join([broken(run), clean(run), single(run), hostile(run)])
