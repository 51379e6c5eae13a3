"""Checks code with parsers of Python, without running it; a script that stands alone.

python -I check.py LANGUAGE         frames on standard input, as in check.cjs
python -I check.py LANGUAGE FILE    one file; complaints on standard error
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections import deque
from typing import Any


def _python(code: bytes) -> None:
    try:
        compile(code, "snippet.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        # Some of the checks leave the line to who reads the file.
        lines = code.decode("utf-8", "replace").splitlines()
        if error.text is None and error.lineno and error.lineno <= len(lines):
            error.text = lines[error.lineno - 1]
        raise


def _json(code: bytes) -> None:
    import json

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    json.loads(code.decode("utf-8"), parse_constant=refuse)


def _toml(code: bytes) -> None:
    import tomllib

    tomllib.loads(code.decode("utf-8"))


def _xml(code: bytes) -> None:
    from xml.parsers import expat

    # Entities of a document's own may grow without end; what is not declared is not well-formed.
    parser = expat.ParserCreate()

    def refuse(name: str, *_: object) -> None:
        raise ValueError(f"entity {name!r}: entities are not read")

    parser.EntityDeclHandler = refuse
    parser.Parse(code, True)


def _yaml(code: bytes) -> None:
    import yaml

    for _ in yaml.parse(code.decode("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        pass


def _html(code: bytes) -> None:
    import html5lib

    parser = html5lib.HTMLParser(strict=True)
    text = code.decode("utf-8")
    if "<html" in text[:1024].lower() or "<!doctype" in text[:1024].lower():
        parser.parse(text)
    else:
        parser.parseFragment(text)


def _css(code: bytes) -> None:
    import tinycss2

    text = code.decode("utf-8")
    nodes: deque[Any] = deque(
        tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    )
    while nodes:
        node = nodes.popleft()
        if node.type == "error":
            place = f"snippet.css:{node.source_line}:{node.source_column}"
            raise ValueError(f"{place}: {node.message}")
        # What stands in the braces of a rule: of at-rules, declarations or further rules.
        if node.type in ("qualified-rule", "at-rule") and node.content is not None:
            nodes.extend(tinycss2.parse_blocks_contents(node.content))


def _sql(code: bytes, dialect: str) -> None:
    import sqlglot

    sqlglot.parse(code.decode("utf-8"), dialect=dialect or None)


CHECKS = {
    "python": _python,
    "json": _json,
    "toml": _toml,
    "xml": _xml,
    "yaml": _yaml,
    "html": _html,
    "css": _css,
}


def complaint(language: str, code: bytes) -> str:
    """What is wrong with the code; empty where nothing is."""
    name, _, dialect = language.partition("-")
    try:
        if name == "sql":
            _sql(code, dialect)
        else:
            CHECKS[name](code)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        return "".join(traceback.format_exception_only(error)) or type(error).__name__
    return ""


def serve(language: str) -> None:
    """Answers frames until there are no more."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while head := source.readline():
        length, _, _ = head.partition(b" ")
        answer = complaint(language, source.read(int(length))).encode("utf-8", "replace")
        target.write(b"%d\n" % len(answer) + answer)
        target.flush()


def main() -> int:
    """Serves, or checks a file."""
    warnings.simplefilter("ignore")
    if len(sys.argv) == 2:
        serve(sys.argv[1])
        return 0
    with open(sys.argv[2], "rb") as file:
        code = file.read()
    # Python would look for the file of an error.
    os.chdir("/")
    said = complaint(sys.argv[1], code)
    os.write(2, said.encode("utf-8", "replace"))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
