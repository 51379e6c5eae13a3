"""The command line (extra ``cli``).

Exit codes: 0 done, 1 the pass rate is under ``--fail-under``, 2 usage or a bad gate, 3 input or
output failed, 4 too many bad rows, 130 interrupted, 141 the reader of standard output has gone.
"""

from __future__ import annotations

from . import json as _json  # noqa: F401  # registers its commands
from .app import run

__all__ = ["run"]
