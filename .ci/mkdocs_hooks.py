"""What mkdocs does to a page before it reads it; mkdocs.yml names this file."""

import re
from typing import Any

CODE = re.compile(r"`[^`]+`")


def on_page_markdown(markdown: str, **_: Any) -> str:
    r"""A bar in code in a table: GitHub wants it as `\|`, the reader here would show that."""
    lines = markdown.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("|"):
            lines[at] = CODE.sub(lambda code: code[0].replace(r"\|", "|"), line)
    return "\n".join(lines)
