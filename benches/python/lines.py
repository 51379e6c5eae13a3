"""The benchmark gate from a file of JSON lines to a file of JSON lines, on one thread."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import scoregate
from harness import Run, compare, compared, same
from peers import GATE, PEERS, Peer
from scoregate._native import LineScorer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TITLE = "JSON lines in, JSON lines out"
ABOUT = """
The same gate over a file of `{"id", "output"}` lines, one thread. Every side reads the file, scores
each row and writes a line with the verdict, the combined score, and the results of the failed
scorers with their details. scoregate reads blocks of 4 MiB; the peers read line by line.
"""
BLOCK = 4 << 20
NAMES = ("contains-0", "regex-1", "json-schema-2", "length-range-3")
DETAILS = ('target does not contain "\\"status\\""', '/"status"\\s*:\\s*"success"/ did not match')


def scoregate_file(gate: scoregate.Gate, source: Path, out: Path, threads: int = 1) -> None:
    """Scores a file block by block."""
    scorer = LineScorer(gate._native, threads=threads)
    with open(source, "rb") as read, open(out, "wb") as write:
        while block := read.read(BLOCK):
            output, _, bad = scorer.feed(block)
            assert not bad
            write.write(output)
        output, _, bad = scorer.feed(b"", last=True)
        write.write(output)


def peer_file(peer: Peer, source: Path, out: Path) -> None:
    """Scores a file line by line."""
    score, loads, dumps = peer.gate(), peer.loads, peer.dumps
    types = [name[:-2] for name in NAMES]
    with open(source, "rb") as read, open(out, "wb") as write:
        for line in read:
            row = loads(line)
            passed, combined, *checks, detail, length = score(row["output"])
            line_out: dict[str, Any] = {
                "id": row["id"],
                "verdict": "pass" if passed else "block",
                "combined": combined,
                "threshold": 0.7,
            }
            if not passed:
                line_out["reason"] = "deterministic scorers below threshold"
            details = (*DETAILS, detail, f"length {length} outside [50, 5000]")
            line_out["decided_by"] = "scorers"
            line_out["results"] = [
                {
                    "name": NAMES[i],
                    "type": types[i],
                    "passed": False,
                    "score": 0,
                    "detail": details[i],
                }
                for i in range(4)
                if not checks[i]
            ]
            write.write(dumps(line_out) + b"\n")


def read_back(path: Path) -> list[object]:
    """The rows of an output file, without the schema's wording, which is each library's own."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            row["combined"] = round(row["combined"], 9)
            for result in row["results"]:
                if result["type"] == "json-schema":
                    del result["detail"]
            found.append(row)
    return found


def run(run: Run) -> str:
    gate = scoregate.Gate(GATE)
    source, out = run.jsonl(), run.folder / "out.jsonl"
    scoregate_file(gate, source, out)
    expected = read_back(out)
    things: dict[str, Callable[[None], object]] = {
        "scoregate": lambda _: scoregate_file(gate, source, out)
    }
    for name, make in PEERS.items():
        peer = make()
        peer_file(peer, source, out)
        same(name, expected, read_back(out))
        things[name] = lambda _, peer=peer: peer_file(peer, source, out)
    timings = compare(things, run.repeats)
    return compared(timings, "scoregate", len(run.rows), run.megabytes)
