"""What people see: consoles, the progress bar, tables.

On a terminal there are colours (unless ``NO_COLOR`` is set) and a moving bar; elsewhere the same
words come as plain text. Text from files is shown with its control characters escaped.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self, TextIO

from rich.console import Console, Group
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import RenderableType
    from rich.progress import Task

    from .._files import FileSummary

#: The width of text that is not shown on a terminal.
_PLAIN_WIDTH = 120

#: The cells of a pass-rate bar.
_BAR = 24

#: Details are cut to so many characters.
_DETAIL = 240

#: A run of fewer seconds has no rate.
_MOMENT = 0.1

#: Without a terminal, a line of progress comes at most this often.
_SECONDS = 2.0


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves the exit code to the command."""
        raise BrokenPipeError


def console(file: TextIO) -> Console:
    """A console that adds nothing to what is printed: no markup, no emoji, no highlights."""
    made = _Console(file=file, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made = _Console(file=file, markup=False, emoji=False, highlight=False, width=_PLAIN_WIDTH)
    return made


def printable(text: str) -> str:
    """Text whose control characters, lone surrogates and bidirectional marks are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def show(what: RenderableType, view: Console) -> None:
    """Prints something; without a terminal, no line ends in spaces."""
    if view.is_terminal:
        view.print(what)
        return
    with view.capture() as capture:
        view.print(what)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    view.file.write("\n".join(lines) + "\n")


def tell(kind: str, message: str) -> None:
    """Prints a line on standard error: ``error: …``, ``warning: …`` or ``note: …``."""
    style = {"error": "bold red", "warning": "bold yellow"}.get(kind, "bold")
    line = Text.assemble((f"{kind}: ", style), printable(message))
    # Long lines are left to the terminal, so that what is copied holds no line feeds.
    console(sys.stderr).print(line, soft_wrap=True)


def on_terminal() -> bool:
    """Whether a person reads standard error."""
    return console(sys.stderr).is_terminal


#: An excerpt of a line has so many cells.
_EXCERPT = 72


def excerpt(line: str, column: int) -> tuple[str, int]:
    """A stretch of a line around a column, and the cells before that column in it."""
    start = max(0, column - _EXCERPT // 2)
    before, after = line[start:column], line[column : start + _EXCERPT]
    left = ("…" if start else "") + printable(before)
    right = printable(after) + ("…" if start + _EXCERPT < len(line) else "")
    return left + right, Text(left).cell_len


def point(kind: str, number: int, line: str, column: int) -> None:
    """Prints a line of a file on standard error, and a caret under a column of it."""
    view = console(sys.stderr)
    words, cells = excerpt(line, column - 1)
    margin = f"{number:>5} | "
    view.print(Text.assemble((margin, "bright_black"), words), soft_wrap=True)
    style = {"error": "bold red", "warning": "bold yellow"}.get(kind, "bold")
    view.print(Text(" " * (len(margin) + cells) + "^", style=style), soft_wrap=True)


def percent(rate: float | None) -> str:
    """A rate with one decimal, never rounded up to 100 nor down to 0."""
    if rate is None:
        return "-"
    if 0 < rate < 0.001:
        return "<0.1%"
    return f"{int(rate * 1000 + 1e-9) / 10:.1f}%"


def bar(rate: float | None, view: Console) -> Text:
    """A rate as a bar."""
    full, empty = ("━", "·" if _colourless(view) else "━") if _fancy(view) else ("#", "-")
    cells = int((rate or 0.0) * _BAR + 0.5)
    if rate and cells == 0:
        cells = 1
    if rate is not None and rate < 1 and cells == _BAR:
        cells = _BAR - 1
    return Text.assemble((full * cells, "green"), (empty * (_BAR - cells), "bright_black"))


def _fancy(view: Console) -> bool:
    """Whether the output is a terminal that can show more than ASCII."""
    return view.is_terminal and view.encoding.startswith("utf")


def _colourless(view: Console) -> bool:
    return view.no_color or view.color_system is None


def summary(found: FileSummary, view: Console) -> Group:
    """The summary of a run: rows, verdicts, scorers, frequent failures."""
    parts: list[Any] = [_headline(found), Text("")]
    parts.append(_verdicts(found))
    if found.judge is not None and found.decided_by is not None:
        parts += [Text(""), _deciders(found.decided_by, found.rows), Text(""), _judge(found.judge)]
    parts += [Text(""), _scorers(found, view)]
    if found.details:
        parts += [Text(""), _details(found)]
    if found.output not in (None, "-") or found.quarantine is not None:
        parts.append(Text(""))
    return Group(*parts)


def _headline(found: FileSummary) -> Text:
    rate = found.rows / found.seconds if found.seconds > 0 else 0.0
    line = Text(f"{found.rows:,} row{'s' if found.rows != 1 else ''}", style="bold")
    line.append(f" in {duration(found.seconds)}", style="not bold")
    # The rate of a moment says nothing.
    if found.seconds >= _MOMENT:
        line.append(f", {rate:,.0f} rows/s", style="not bold")
    if found.bad_rows:
        line.append(", ", style="not bold")
        line.append(f"{found.bad_rows:,} bad", style="bold red")
        if found.rate_of_all is not None:
            share = f" ({percent(found.rate_of_all)} of all rows pass)"
            line.append(share, style="not bold")
    return line


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _table(*headings: tuple[str, str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading, justify in headings:
        table.add_column(heading, justify="right" if justify == "right" else "left")
    return table


def _verdicts(found: FileSummary) -> Table:
    table = _table(("verdict", "left"), ("rows", "right"), ("share", "right"), ("", "left"))
    for name, rows, style in (
        ("pass", found.passed, "green"),
        ("block", found.blocked, "red"),
        ("undecided", found.undecided, "yellow"),
    ):
        share = rows / found.rows if found.rows else None
        note = f"{found.missing:,} without text" if name == "block" and found.missing else ""
        table.add_row(Text(name, style=style), f"{rows:,}", percent(share), note)
    return table


def _deciders(decided_by: dict[str, int], total: int) -> Table:
    table = _table(("decided by", "left"), ("rows", "right"), ("share", "right"))
    for name, rows in decided_by.items():
        style = "yellow" if rows and name in ("policy", "nobody") else ""
        share = rows / total if total else None
        table.add_row(Text(name, style=style), f"{rows:,}", percent(share))
    return table


def _judge(found: dict[str, Any]) -> Group:
    """How the judge's replies were read, and why calls failed."""
    replies = {state: count for state, count in found["replies"].items() if count}
    line = Text("judge replies: ", style="bold")
    words = ", ".join(f"{count:,} {state}" for state, count in replies.items()) or "none"
    line.append(words, style="not bold")
    if found["clamped"]:
        line.append(f"; {found['clamped']:,} scores put into their range", style="yellow")
    lines: list[RenderableType] = [line]
    for failure in found["failures"]:
        cause = printable(failure["cause"])
        lines.append(Text(f"  {failure['calls']:,} failed: {cause}", style="red"))
    if found["trouble"] is not None:
        lines.append(Text(printable(found["trouble"]), style="bold red"))
    return Group(*lines)


def _scorers(found: FileSummary, view: Console) -> Table:
    table = _table(("scorer", "left"), ("type", "left"), ("passed", "right"), ("rate", "right"))
    table.columns[0].overflow = "fold"
    table.add_column("", no_wrap=True, min_width=_BAR)
    for scorer in found.scorers:
        rate = scorer.passed / found.rows if found.rows else None
        table.add_row(
            printable(scorer.name),
            scorer.type,
            f"{scorer.passed:,}",
            percent(rate),
            bar(rate, view),
        )
    return table


def _details(found: FileSummary) -> Table:
    table = _table(("failed", "right"), ("scorer", "left"), ("most frequent details", "left"))
    table.columns[1].overflow = "fold"
    table.columns[2].overflow = "fold"
    for count in found.details:
        detail = printable(count.detail)
        if len(detail) > _DETAIL:
            detail = detail[:_DETAIL] + "…"
        table.add_row(f"{count.rows:,}", printable(count.scorer), detail)
    return table


class _Rate(ProgressColumn):
    """Rows and rows a second."""

    max_refresh = 0.2

    def render(self, task: Task) -> Text:
        rows: int = task.fields["rows"]
        seconds = task.elapsed or 0.0
        rate = rows / seconds if seconds > 0 else 0.0
        return Text(f"{rows:,} rows  {rate:,.0f} rows/s")


class Meter:
    """Shows how far a run is: a bar on a terminal, else a line now and then.

    Args:
        shown: whether anything is shown.
        total: the bytes of all inputs, where that is known.
        limit: the most rows that are read.
    """

    def __init__(self, *, shown: bool, total: int | None, limit: int | None) -> None:
        self._shown = shown
        self._total = total
        self._limit = limit
        self._view = console(sys.stderr)
        self._live = shown and self._view.is_terminal
        self._start = self._last = time.monotonic()
        known = total is not None or limit is not None
        columns: list[ProgressColumn] = [BarColumn(bar_width=None, complete_style="cyan")]
        if known:
            columns.append(TextColumn("{task.percentage:>3.0f}%"))
        columns.append(_Rate())
        if known:
            columns += [TextColumn("ETA"), TimeRemainingColumn(compact=True)]
        self._progress = Progress(
            *columns, console=self._view, transient=True, disable=not self._live, expand=True
        )
        self._task = self._progress.add_task("", total=1.0 if known else None, rows=0)

    def _fraction(self, size: int, rows: int) -> float:
        by_size = size / self._total if self._total else 0.0
        by_rows = rows / self._limit if self._limit else 0.0
        return min(1.0, max(by_size, by_rows))

    def __call__(self, size: int, rows: int) -> None:
        """Takes the bytes and the rows so far."""
        if self._live:
            self._progress.update(self._task, completed=self._fraction(size, rows), rows=rows)
        elif self._shown and time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            self._line(size, rows)

    def _line(self, size: int, rows: int) -> None:
        seconds = time.monotonic() - self._start
        words = [f"{rows:,} rows", f"{rows / seconds:,.0f} rows/s"]
        fraction = self._fraction(size, rows)
        if fraction > 0:
            words.insert(0, f"{fraction:.0%}")
            words.append(f"ETA {duration(seconds / fraction - seconds)}")
        self._view.print("progress: " + ", ".join(words), soft_wrap=True)

    def __enter__(self) -> Self:
        """Starts the bar."""
        if self._live:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes the bar away."""
        if self._live:
            self._progress.stop()
