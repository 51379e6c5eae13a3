"""Checks a gate of all five pure scorers against plain Python: python check_outputs.py FILE.

FILE holds one `{"id", "output"}` object a line. The reference below is written from the rules, with
nothing but the standard library.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import scoregate

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
FENCE = re.compile(r"```([^\n`]*)\n([\s\S]*?)```")
CONTRACT = {
    "type": "object",
    "required": ["status", "data"],
    "properties": {"status": {"enum": ["success", "error"]}, "data": {"type": "object"}},
}
SPEC: dict[str, Any] = {
    "scorers": [
        {"type": "exact-match", "value": "null"},
        {"type": "contains", "value": '"status"'},
        {"type": "contains", "value": "```"},
        {"type": "regex", "pattern": '"status"\\s*:\\s*"success"'},
        {"type": "regex", "pattern": "^#{1,3} \\S", "flags": "m"},
        {"type": "regex", "pattern": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "negate": True},
        {"type": "json-schema", "schema": CONTRACT},
        {"type": "json-schema", "schema": {}},
        {"type": "length-range", "min": 50, "max": 2000},
        {"type": "length-range", "min": 2, "unit": "codepoint"},
    ],
    "combine": "weighted",
    "weights": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    "threshold": 0.4,
}
NOTHING = object()


def refuse(word: str) -> Any:
    raise ValueError(word)


def strict(text: str) -> Any:
    """Strict JSON, at most 512 deep; NOTHING where it is not."""
    try:
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return NOTHING
    level = [value]
    for _ in range(513):
        children = [
            c
            for v in level
            if isinstance(v, (dict, list))
            for c in (v.values() if isinstance(v, dict) else v)
        ]
        if not any(isinstance(v, (dict, list)) for v in level):
            return value
        level = children
    return NOTHING


def lenient(text: str) -> Any:
    text = text.strip(JS_SPACE)
    if not text:
        return NOTHING
    found = strict(text)
    if found is not NOTHING:
        return found
    fences = [
        (m[1].strip(JS_SPACE).lower() == "json", m[2].strip(JS_SPACE)) for m in FENCE.finditer(text)
    ]
    for _, body in sorted(fences, key=lambda fence: not fence[0]):
        if body and (found := strict(body)) is not NOTHING:
            return found
    start = min((i for i in (text.find("["), text.find("{")) if i >= 0), default=-1)
    if start >= 0:
        end = text.rfind("]" if text[start] == "[" else "}")
        if end > start:
            return strict(text[start : end + 1])
    return NOTHING


def contract(value: Any) -> bool:
    if not isinstance(value, dict) or "status" not in value or "data" not in value:
        return False
    return value["status"] in ("success", "error") and isinstance(value["data"], dict)


def reference(text: str) -> list[bool]:
    """Which scorers of SPEC pass, in order."""
    value = lenient(text)
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    # In JavaScript's multi-line mode a line also starts after CR, U+2028 and U+2029.
    heading = re.search(r"(?:^|(?<=[\n\r\u2028\u2029]))#{1,3} [^\s\ufeff]", text)
    # Python's \s has U+0085 and U+001C to U+001F, which JavaScript's has not, and lacks U+FEFF.
    space = f"[{re.escape(JS_SPACE)}]*"
    return [
        text == "null",
        '"status"' in text,
        "```" in text,
        re.search(f'"status"{space}:{space}"success"', text) is not None,
        heading is not None,
        re.search("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is None,
        value is not NOTHING and contract(value),
        value is not NOTHING,
        50 <= units <= 2000,
        len(text) >= 2,
    ]


def compare(texts: list[str]) -> list[str]:
    """The differences between the gate and the reference; none when all agree."""
    gate = scoregate.Gate(SPEC)
    batch = gate.score_batch(texts)
    weights = SPEC["weights"]
    differences = []
    for i, text in enumerate(texts):
        wanted = reference(text)
        combined = sum(w for w, p in zip(weights, wanted, strict=True) if p) / sum(weights)
        found = batch[i]
        passed = [result.passed for result in found.results]
        if passed != wanted or abs(found.combined - combined) > 1e-12:
            differences.append(f"row {i}: wanted {wanted}, got {passed}: {text[:80]!r}")
        elif found.passed != (found.combined >= 0.4):
            differences.append(f"row {i}: verdict {found.verdict} at {found.combined}")
        elif found != gate.score(text):
            differences.append(f"row {i}: alone and in a batch differ")
    return differences


def main(path: str) -> int:
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    outputs = [json.loads(line)["output"] for line in lines if line.strip()]
    texts = [text for text in outputs if text is not None]
    differences = compare(texts)
    print("\n".join(differences[:20]), end="\n" if differences else "")
    print(f"{len(texts)} outputs, {len(differences)} differences")
    return 1 if differences or not texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
