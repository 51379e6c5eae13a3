"""The judge for files of JSON lines: each block's open rows are decided before it is written."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from .. import _native
from ._decide import BatchRun
from ._options import JudgeOptions
from ._plan import Plan
from ._results import JudgingInterrupted
from ._session import Session
from ._tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from ._decide import Progress
    from ._options import JudgeKeywords
    from ._plan import Scoring
    from ._protocol import AnyJudge
    from ._results import JudgedResult
    from ._session import ModelUsage

_OPEN = b',"verdict":"undecided","combined":'
_RESULTS = b',"results":['
_BLANK = b" \t\r"

#: A carriage return and a byte order mark do not count towards the length of a line.
_LINE_ENDS = 4


class FileJudge:
    """Decides what ``scoregate.score_file`` leaves open, within one budget for the whole run.

    It serves one run. Equal prompts are asked once within a block of rows, and in all of the run
    with a cache.

    Args:
        gate: the gate, the same as the run's.
        judge: as in ``Gate.decide_batch``.
        options: as in ``Gate.decide_batch``, for all of the run.
        max_errors: a number or a percentage, of which one is None. Once more rows than the number
            have failed calls, none is made any more; the percentage is one of the open rows, and
            looked at in the end.
        details: the output lines also hold what the calls cost.
        keywords: the fields of ``JudgeOptions`` by name.
    """

    def __init__(
        self,
        gate: Scoring,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions | None = None,
        max_errors: tuple[int | None, float | None] = (None, None),
        details: bool = False,
        **keywords: Unpack[JudgeKeywords],
    ) -> None:
        self._gate = gate
        chosen = JudgeOptions.of(options, keywords)
        self._plan = Plan.read(gate, judge, chosen)
        self._session = Session(self._plan.judges, chosen)
        self._max_errors = max_errors
        self.has_cache = chosen.cache is not None
        self._details = details
        self._field = "output"
        self._most = 64 << 20
        self._threads: int | None = None
        self._tally = Tally()
        #: Verdicts of the rows that the scorers left open.
        self.verdicts: Counter[str] = Counter()
        #: The output lines of a block that was interrupted, of the rows that are decided.
        self.partial = b""
        #: The file that holds what an interrupted run has decided.
        self.kept: str | None = None
        self.next_input()

    def start(self, *, field: str, max_line_bytes: int, threads: int | None) -> None:
        """Takes the options of the run."""
        self._field = field
        self._most = max_line_bytes + _LINE_ENDS
        self._threads = threads

    def next_input(self) -> None:
        """Starts another input."""
        self._carry = bytearray()
        self._overlong = False
        self._line = 0

    @property
    def usage(self) -> tuple[ModelUsage, ...]:
        """What each judge cost so far."""
        return self._session.spent

    def check(self) -> None:
        """Looks whether the judges can be reached, before any work is done.

        Raises:
            JudgeError: one cannot.
        """

        async def reach(check: Any) -> None:
            found = check()
            if inspect.isawaitable(found):
                await found

        for judge in self._plan.judges:
            check = getattr(judge, "check", None)
            if check is not None:
                asyncio.run(reach(check))

    def to_dict(self) -> dict[str, Any]:
        """What the run's judging came to, as JSON values."""
        failures = self._session.failures
        return self._tally.to_dict(self.usage, failures)

    def deciders(self, scored: Mapping[str, Any]) -> dict[str, int]:
        """Who decided all rows, with the counts of the scorers alone."""
        return self._tally.deciders(scored)

    @property
    def trouble(self) -> str | None:
        """What must not look like success: a judge that gave nothing, or failed too often."""
        most, share = self._max_errors
        failed, rows = self._tally.failed_rows, self._tally.rows
        over = (most is not None and failed > most) or (
            share is not None and failed * 100 > share * rows
        )
        if not over:
            return self._tally.trouble(self._session.failures)
        tolerated = f"{most:,} are" if most is not None else f"{share:g}% are"
        cause = next(iter(self._session.failures.most_common(1)), ("unknown", 0))[0]
        return (
            f"the judge failed on {failed:,} of {rows:,} open rows, and at most {tolerated} "
            f"tolerated; most often: {cause}"
        )

    def take(
        self,
        part: bytes,
        output: bytes,
        rows: int,
        bad: Sequence[tuple[int, int, str, bytes]],
        *,
        last: bool,
        progress: Callable[[int], None] | None,
    ) -> bytes:
        """Decides the open rows of a part.

        Args:
            part: the input, as the native scorer was given it.
            output: the output lines that came of it.
            rows: their number.
            bad: the bad lines that came of it.
            last: whether the input ends here.
            progress: is told how many of the part's rows are decided.
        """
        lines = self._cut(part, last=last)
        if _OPEN not in output:
            return output
        skipped = {number for number, *_ in bad}
        inputs = [line for number, line in lines if number not in skipped and line is not None]
        results = output.split(b"\n")[:rows]
        at = [index for index, line in enumerate(results) if _OPEN in line]
        values = [_native.extract_json(inputs[index].decode("utf-8")) for index in at]
        try:
            decided = self._decide(values, progress)
        except JudgingInterrupted as stop:
            unreached = {at[i] for i in range(len(at)) if i not in stop.reached}
            self._write(results, at, list(stop.batch))
            kept = [line for i, line in enumerate(results) if i not in unreached]
            self.partial = b"".join(line + b"\n" for line in kept)
            raise
        self._write(results, at, decided)
        for result in decided:
            self.verdicts[result.verdict] += 1
        return b"\n".join(results) + b"\n"

    def _write(self, results: list[bytes], at: list[int], decided: list[JudgedResult]) -> None:
        for index, result in zip(at, decided, strict=True):
            results[index] = self._rewritten(results[index], result)

    def _cut(self, part: bytes, *, last: bool) -> list[tuple[int, bytes | None]]:
        """The lines that are complete and not blank, numbered; None for one that is too long."""
        pieces = part.split(b"\n")
        rest = pieces.pop()
        if last and (rest or self._carry or self._overlong):
            pieces.append(rest)
            rest = b""
        found: list[tuple[int, bytes | None]] = []
        for piece in pieces:
            self._line += 1
            self._hold(piece)
            line = bytes(self._carry)
            overlong = self._overlong
            self._carry.clear()
            self._overlong = False
            if self._line == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if overlong:
                found.append((self._line, None))
            elif line.strip(_BLANK):
                found.append((self._line, line))
        self._hold(rest)
        return found

    def _hold(self, more: bytes) -> None:
        """Keeps more of the open line, unless it is too long to be a row."""
        if self._overlong:
            return
        self._carry += more
        if len(self._carry) > self._most:
            self._overlong = True
            self._carry.clear()

    def _decide(
        self, values: list[dict[str, Any]], progress: Callable[[int], None] | None
    ) -> list[JudgedResult]:
        texts = [value[self._field] for value in values]
        scored = self._gate.score_batch(texts, values, threads=self._threads)

        def told(state: Progress) -> None:
            if progress is not None:
                progress(state.done)

        def count(_: int, result: JudgedResult) -> None:
            self._tally.add(result)
            most, _share = self._max_errors
            if most is not None and self._tally.failed_rows > most:
                self._session.budget.close("errors")

        run = BatchRun(self._plan, self._session, texts, values, scored, told, count)
        return list(run.finish())

    def _rewritten(self, line: bytes, result: JudgedResult) -> bytes:
        """An output line with the judge's decision; id and results stay as they are."""
        head, _, tail = line.partition(_OPEN)
        fields = result.to_dict(details=self._details)
        judge = fields.pop("judge", None)
        _, mark, results = tail.partition(_RESULTS)
        keys = ("verdict", "combined", "threshold", "reason", "decided_by")
        told = {key: _number(fields[key]) for key in keys if key in fields}
        new = head + b"," + _json(told)[1:-1]
        new += mark + results[:-1] if mark else b""
        if judge is not None:
            judge = {key: _number(value) for key, value in judge.items()}
            new += b',"judge":' + _json(judge)
        return new + b"}"


def _number(value: Any) -> Any:
    """A whole number without a fraction, as the native lines have it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
