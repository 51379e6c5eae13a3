"""Prints the requirements of an extra of pyproject.toml, a line each, own extras resolved."""

import re
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    extras = tomllib.load(file)["project"]["optional-dependencies"]


def requirements(name: str) -> list[str]:
    """The extra's requirements; `scoregate[x]` stands for those of x."""
    found = []
    for line in extras[name]:
        own = re.fullmatch(r"scoregate\[(\w+)\]", line)
        found += requirements(own[1]) if own else [line]
    return found


print("\n".join(requirements(sys.argv[1])))
