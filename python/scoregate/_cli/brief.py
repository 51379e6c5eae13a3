"""The help of a command with many options: a line an option, the common groups first."""

from __future__ import annotations

import re
import sys
from enum import Enum
from typing import Any

from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from . import look

#: The groups in the order of the help; others come behind them.
_ORDER = ("Results", "Input", "Bad rows", "Run", "Judge")


class Brief(TyperCommand):
    """A command whose help fits on a screen; its page in the documentation has every word."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the help."""
        view = look.console(sys.stdout)
        arguments = [p for p in self.params if p.opts[0][0] != "-"]
        names = " ".join(str(p.metavar or p.name) for p in arguments)
        view.print(Text.assemble(("Usage: ", "bold"), f"{ctx.command_path} [OPTIONS] {names}\n"))
        view.print(Text.from_markup(self.help or ""))
        groups: dict[str, list[Any]] = {name: [] for name in _ORDER}
        for option in self.get_params(ctx):
            if option.opts[0][0] == "-" and not getattr(option, "hidden", False):
                panel = getattr(option, "rich_help_panel", None) or "Run"
                groups.setdefault(panel, []).append(option)
        for name, options in groups.items():
            if options:
                view.print(Text(f"\n{name}", style="bold"))
                look.show(_table(options, view.width), view)
        if self.epilog:
            view.print(Text(f"\n{self.epilog}"))


def _table(options: list[Any], width: int) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, width=width)
    table.add_column(no_wrap=True, width=_NAMES)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for option in options:
        names = ", ".join(sorted(option.opts, key=len))
        value = option.metavar or ""
        if isinstance(option.default, Enum):
            value = "|".join(str(each.value) for each in type(option.default))
        line = Text.assemble("  ", (names, "cyan"), f" {value}".rstrip())
        if line.cell_len > _NAMES:
            line = Text.assemble("  ", (names, "cyan"))
        table.add_row(line, _first(option.help or ""))
    return table


#: The cells of the names.
_NAMES = 30


def _first(text: str) -> str:
    """What an option does, without its conditions."""
    return re.split(r"[.;:,](?: |$)", text, maxsplit=1)[0]
