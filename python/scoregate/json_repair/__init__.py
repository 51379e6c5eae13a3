"""A drop-in for the package ``json_repair``: the same names, arguments and defaults.

>>> from scoregate import json_repair
>>> json_repair.repair_json("{'a': 1,")
'{"a": 1}'
>>> json_repair.loads("{'a': 1,")
{'a': 1}

Unlike the rest of scoregate these functions give ``""`` for a text that holds no JSON. What else
differs from the package is listed in ``docs/json.md``; `scoregate.parse_json` is the function to
write new code for. The submodules ``json_repair`` and ``cli`` are there for code that imports
those.
"""

from __future__ import annotations

from .json_repair import JSONReturnType, from_file, load, loads, repair_json

__all__ = ["JSONReturnType", "from_file", "load", "loads", "repair_json"]
