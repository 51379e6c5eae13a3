"""A thread with a small stack: nothing that is deep but allowed overflows it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: Depths near the limit of 512; a schema spends two levels on each of its own.
PROGRAM = r"""
import pickle, sys, threading
import scoregate
from scoregate import _native

def nest(depth, value, wrap):
    for _ in range(depth):
        value = wrap(value)
    return value

def gate(schema, **more):
    return scoregate.Gate({"scorers": [{"type": "json-schema", "schema": schema, **more}]})

def regex(pattern, flags="", text="aaaa"):
    return lambda: scoregate.JsRegex(pattern, flags).test(text)

contract = nest(250, {"type": "object"}, lambda s: {"properties": {"a": s}})
schema = nest(245, {"minimum": 3}, lambda s: {"properties": {"a": s}, "minProperties": 1})
named = nest(200, {"type": "object"}, lambda s: {"patternProperties": {"^(?=a)a$": s}})
node = {"properties": {"a": {"$ref": "#/$defs/n"}}, "minProperties": 1}
objects = {"$defs": {"n": node}, "$ref": "#/$defs/n"}
arrays = {"$defs": {"n": {"items": {"$ref": "#/$defs/n"}, "maxItems": 1}}, "$ref": "#/$defs/n"}
members = '{"a":' * 500 + "1" + "}" * 500
brackets = "[" * 500 + "]" * 500
values = nest(500, 1, lambda v: {"a": v})

OPERATIONS = {
    "contract": lambda: gate(contract).score(members),
    "schema": lambda: gate(schema).score(members),
    "schema by names": lambda: gate(named).score(members),
    "recursive schema": lambda: gate(objects).score(members),
    "recursive schema, violated": lambda: gate(objects).score(members.replace("1", "{}")),
    "batch": lambda: gate(arrays).score_batch([brackets] * 10),
    "batch of one thread": lambda: gate(arrays).score_batch([brackets] * 600, threads=1),
    "repair": lambda: gate(arrays, repair=True).score(brackets[:-1]),
    "row": lambda: gate({"type": "object"}).score("{}", {"x": values}),
    "spec": lambda: _native.score_shape_errors({"scorers": [values]}),
    "contract of values": lambda: _native.contract_violations(values, {"enum": [values]}),
    "coerce": lambda: scoregate.parse_json(members, schema=objects),
    "pickle": lambda: pickle.loads(pickle.dumps(gate(schema))).score(members),
    "groups": regex("(?:" * 240 + "a" + ")*" * 240),
    "captures": regex("(a|" * 240 + "a" + ")" * 240 + r"\1"),
    "classes": regex("[" * 240 + "a" + "]" * 240, "v"),
    "looks": regex("(?=(?!" * 120 + "a" + "))" * 120),
    "too many classes": regex("[" * 300 + "a" + "]" * 300, "v"),
    "too many groups": regex("(" * 300 + "a" + ")" * 300),
}

def run():
    try:
        print(OPERATIONS[sys.argv[1]]())
    except scoregate.JsRegexError as error:
        print(type(error).__name__)

if len(sys.argv) == 1:
    print(*OPERATIONS, sep="\n")
else:
    threading.stack_size(256 << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""

WANTED = {
    "contract": "pass",
    "schema": "pass",
    "schema by names": "pass",
    "recursive schema": "pass",
    "recursive schema, violated": "block",
    "batch": "10 pass",
    "batch of one thread": "600 pass",
    "repair": "pass",
    "row": "pass",
    "spec": "scorers[0].type",
    "contract of values": "[]",
    "coerce": "ok",
    "pickle": "pass",
    "groups": "True",
    "captures": "True",
    "classes": "True",
    "looks": "True",
    "too many classes": "JsRegexError",
    "too many groups": "JsRegexError",
}


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False
    )


def test_every_operation_is_tested() -> None:
    assert program().stdout.split("\n")[:-1] == list(WANTED)


@pytest.mark.parametrize("operation", WANTED)
def test_256_kib_are_enough(operation: str) -> None:
    done = program(operation)
    assert done.returncode == 0, json.dumps(done.stderr[-2000:])
    assert WANTED[operation] in done.stdout
