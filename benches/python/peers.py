"""The peers: the same work in plain Python, over the libraries that one would take for it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

#: The gate that is timed, as scoregate reads it.
SCHEMA = {
    "type": "object",
    "required": ["status", "data"],
    "properties": {"status": {"enum": ["success", "error"]}, "data": {"type": "object"}},
}
GATE = {
    "scorers": [
        {"type": "contains", "value": '"status"'},
        {"type": "regex", "pattern": r'"status"\s*:\s*"success"'},
        {"type": "json-schema", "schema": SCHEMA},
        {"type": "length-range", "min": 50, "max": 5000},
    ],
    "combine": "weighted",
    "weights": [0.2, 0.3, 0.4, 0.1],
    "threshold": 0.7,
}
WEIGHTS = (0.2, 0.3, 0.4, 0.1)
SUCCESS = re.compile(r'"status"\s*:\s*"success"')
FENCE = re.compile(r"```([^\n`]*)\n(.*?)```", re.DOTALL)
NOTHING = object()


def utf16_length(text: str) -> int:
    """JavaScript's `length`."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def lenient(loads: Callable[[str], Any]) -> Callable[[str], Any]:
    """The strict tier: the whole text, else a fenced block, else the span between brackets."""

    def parse(text: str) -> Any:
        text = text.strip()
        if not text:
            return NOTHING
        try:
            return loads(text)
        except ValueError:
            pass
        fences = [(info.strip().lower() != "json", body) for info, body in FENCE.findall(text)]
        for _, body in sorted(fences, key=lambda fence: fence[0]):
            try:
                return loads(body.strip())
            except ValueError:
                pass
        starts = [at for at in (text.find("["), text.find("{")) if at >= 0]
        if not starts:
            return NOTHING
        start = min(starts)
        end = text.rfind("]" if text[start] == "[" else "}")
        try:
            return loads(text[start : end + 1])
        except ValueError:
            return NOTHING

    return parse


class Peer(NamedTuple):
    """One way to do the work."""

    #: The JSON value of a text, or NOTHING.
    parse: Callable[[str], Any]
    #: What a value breaks of the schema: None where it holds.
    violations: Callable[[Any], str | None]
    #: A line of JSON lines to a row, and back.
    loads: Callable[[bytes], Any]
    dumps: Callable[[Any], bytes]

    def gate(self) -> Callable[[str], tuple[Any, ...]]:
        """The gate: passed, combined, then for each scorer whether it passed, and the details."""
        parse, violations = self.parse, self.violations
        search = SUCCESS.search
        w0, w1, w2, w3 = WEIGHTS
        total = sum(WEIGHTS)

        def score(text: str) -> tuple[Any, ...]:
            has = '"status"' in text
            success = search(text) is not None
            value = parse(text)
            detail = "target is not valid JSON" if value is NOTHING else violations(value)
            fits = detail is None
            length = utf16_length(text)
            sized = 50 <= length <= 5000
            combined = (has * w0 + success * w1 + fits * w2 + sized * w3) / total
            return combined >= 0.7, combined, has, success, fits, sized, detail, length

        return score


def with_jsonschema_rs(schema: Any = SCHEMA) -> Peer:
    import jsonschema_rs
    import orjson

    validator = jsonschema_rs.Draft202012Validator(schema)

    def violations(value: Any) -> str | None:
        if validator.is_valid(value):
            return None
        return "; ".join(error.message for error in validator.iter_errors(value))

    return Peer(lenient(orjson.loads), violations, orjson.loads, orjson.dumps)


def with_msgspec() -> Peer:
    """The schema as a msgspec Struct: one pass parses and checks, no value is built for the rest."""
    import msgspec

    class Answer(msgspec.Struct):
        status: Literal["success", "error"]
        data: dict[str, Any]

    decoder = msgspec.json.Decoder(Answer)

    def loads(text: str) -> Any:
        try:
            return decoder.decode(text)
        except msgspec.ValidationError as error:
            return str(error)

    row = msgspec.json.Decoder()
    return Peer(
        lenient(loads),
        lambda value: None if isinstance(value, Answer) else str(value),
        row.decode,
        msgspec.json.encode,
    )


def with_stdlib(schema: Any = SCHEMA) -> Peer:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(schema)

    def violations(value: Any) -> str | None:
        return "; ".join(error.message for error in validator.iter_errors(value)) or None

    def dumps(row: Any) -> bytes:
        return json.dumps(row, ensure_ascii=False).encode()

    return Peer(lenient(json.loads), violations, json.loads, dumps)


PEERS: dict[str, Callable[[], Peer]] = {
    "orjson + re + jsonschema-rs": with_jsonschema_rs,
    "msgspec + re": with_msgspec,
    "json + re + jsonschema": with_stdlib,
}
