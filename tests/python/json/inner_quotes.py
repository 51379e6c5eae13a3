"""Strings that quote something and leave its quotes unescaped: pieces x frames x positions.

python tests/python/json/inner_quotes.py [--kind K] [--peers] [--stream] [--show N]: a piece (JSON,
code, a regex, markup, speech ...) stands in a sentence, the sentence in a document. The truth is
the document with the quotes escaped. Left out is what has two fair readings: a list of quoted words
that is not in brackets (`"a", "b"`) as an item of an array.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from scoreboard import Case, command

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is quoted, by kind.
PIECES: dict[str, tuple[str, ...]] = {
    "object": (
        '{"b": 5}',
        '{"b": "5"}',
        '{"a": "x", "b": "y"}',
        '{"a": {"b": "c"}}',
        '{"ok": true, "items": ["x", "y"]}',
        '{"error": {"code": 404, "text": "not found"}}',
        '{"a":"x","b":[{"c":"d"}]}',
    ),
    "array": ('["x"]', '["x", "y"]', '[["a"], ["b"]]', '[{"k": "v"}, {"k": "w"}]', '["x","y"]'),
    "code": (
        'print("hello")',
        'f("a", "b")',
        'if (s == "x") { return "y"; }',
        'const o = { "k": "v" };',
        'log("a: " + b + "!")',
        'fmt.Printf("%s: %d", name, n)',
    ),
    "indexer": ('a["k"]', 'a["k"]["j"]', 'data["items"][0]["name"]', 'os.environ["HOME"]'),
    "regex": ('[^"]+', '"([^"]*)"', '^"(a|b)":', '"[a-z]+"', '(?:"x"|"y")'),
    "markup": (
        '<a href="x.html">go</a>',
        '<img src="a.png" alt="a b"/>',
        '<div class="note" id="n1">text</div>',
        '<input type="text" value=""/>',
    ),
    "speech": (
        '"yes"',
        '"no, not yet"',
        '"Well," she said, "it depends."',
        '"one" or "two"',
        '"Really?"',
        '"a: b"',
    ),
    "csv": ('"a","b","c"', 'id,"last, first",7', '"x";"y"'),
    "repr": ("{'a': \"it's\"}", '("x", 1)', 'Point(name="p", at="1,2")', '"it\'s"'),
    "shell": ('echo "$HOME"', 'grep -E "^[a-z]+" f', 'curl -H "A: b" -d "{}"', 'awk -F"," f'),
    "size": ('5" tall', "6'2\" and 5'11\"", 'a 27" screen'),
}
#: Sentences around a piece: in the middle, at the ends, alone, before a comma.
FRAMES = ("see {} here", "it was {}", "{} is right", "{}", "first {}, and so on", "either {}.")
#: Documents around a string, by what follows it. `@` is the string's content.
POSITIONS: dict[str, str] = {
    "first of an object": '{"reason": "@", "answer": "4", "n": 1}',
    "first of an object, lines": '{\n  "reason": "@",\n  "answer": "4"\n}',
    "middle of an object": '{"id": 7, "reason": "@", "tags": ["t"], "answer": "4"}',
    "before an object": '{"reason":"@","more":{"k":"v"}}',
    "last of an object": '{"answer": "4", "reason": "@"}',
    "last of an object, lines": '{\n  "answer": "4",\n  "reason": "@"\n}',
    "only one": '{"reason": "@"}',
    "last of an inner object": '{"a": {"n": 1, "reason": "@"}, "z": 2}',
    "last of an object in a list": '{"l": [{"reason": "@"}, {"reason": "b"}], "z": 2}',
    "first of a list": '["@", "b", "c"]',
    "middle of a list": '{"l": ["a", "@", "c"], "z": 2}',
    "last of a list": '{"l": ["a", "@"], "z": 2}',
    "last of the root list": '["a", "@"]',
    "in prose": 'Here it is: {"reason": "@", "answer": "4"} as you asked.',
}
KEYS = ('{"the @ one": 1, "b": 2}', '{"a": {"@ x": "y"}, "b": 2}', '{"a": 1, "x @": [1]}')
KEY_PIECES = ('"big"', 'a["k"]', '<b id="x">', '"a" and "b"')


def listed(piece: str) -> bool:
    """Whether a quoted word is followed by a comma outside of brackets."""
    depth = 0
    for at, sign in enumerate(piece):
        depth += (sign in "[{(<") - (sign in "]})>")
        if depth == 0 and sign == '"' and piece[at + 1 :].lstrip().startswith(","):
            return True
    return False


def case(kinds: tuple[str, ...], form: str, content: str) -> Case:
    found = re.search(r"[{\[].*[}\]]", form, re.DOTALL)
    assert found, form
    escaped = json.dumps(content, ensure_ascii=False)[1:-1]
    return Case(kinds, form.replace("@", content), json.loads(found[0].replace("@", escaped)))


def cases() -> Iterator[Case]:
    """Every piece in every frame and position."""
    for kind, pieces in PIECES.items():
        for piece in pieces:
            for frame in FRAMES:
                content = frame.replace("{}", piece)
                for position, form in POSITIONS.items():
                    item = "list" in position and "object" not in position
                    if item and (listed(content) or kind == "csv"):
                        continue
                    yield case((kind, position), form, content)
    for form in KEYS:
        for piece in KEY_PIECES:
            yield case(("key", "key"), form, piece)


def main(arguments: list[str]) -> int:
    kinds = [*PIECES, "key"]
    return command(arguments, __doc__, kinds, lambda given: list(cases()), {"all": kinds})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
