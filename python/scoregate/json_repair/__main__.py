"""``python -m scoregate.json_repair``."""

from __future__ import annotations

import sys

from .cli import cli

if __name__ == "__main__":
    sys.exit(cli())
