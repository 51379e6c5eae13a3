"""The judge for files of JSON lines: each block's open rows are decided before it is written."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from .. import _native
from .decide import BatchRun, Plan, check_budget

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from ..gate import Gate
    from .cache import JudgeCache
    from .decide import JudgeOptions, Progress
    from .protocol import AnyJudge
    from .reading import OnJudgeError, OnUnparseable, Reducer
    from .results import JudgedResult
    from .session import ModelUsage

_OPEN = b',"verdict":"undecided","combined":'
_RESULTS = b',"results":['
_BLANK = b" \t\r"

#: A carriage return and a byte order mark do not count towards the length of a line.
_LINE_ENDS = 4


class FileJudge:
    """Decides what :func:`scoregate.score_file` leaves open, within one budget for the whole run.

    It serves one run. Equal prompts are asked once within a block of rows, and in all of the run
    with a cache.

    Args:
        gate: the gate, the same as the run's.
        judge: as in :meth:`Gate.decide_batch`, like all that follows.
        reducer: how several judges become one.
        on_judge_error: what a failed call gives.
        on_unparseable: what an unreadable reply gives.
        concurrency: calls in flight at most.
        max_calls: calls at most.
        max_tokens: no call is made once so many tokens are spent.
        deadline: the seconds that the run may take.
        cache: a cache, or the path of its file.
        options: retries, prompt, raw replies, trial.
        details: the output lines also hold what the calls cost.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        judge: AnyJudge | Sequence[AnyJudge],
        reducer: Reducer = "majority",
        on_judge_error: OnJudgeError = "undecided",
        on_unparseable: OnUnparseable | None = None,
        concurrency: int = 8,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        deadline: float | None = None,
        cache: JudgeCache | str | os.PathLike[str] | None = None,
        options: JudgeOptions | None = None,
        details: bool = False,
    ) -> None:
        self._gate = gate
        self._plan = Plan.read(gate, judge, reducer, on_judge_error, on_unparseable, options)
        self._session = self._plan.session(
            check_budget(concurrency, max_calls, max_tokens, deadline), cache
        )
        self._concurrency = concurrency
        self._details = details
        self._field = "output"
        self._most = 64 << 20
        self._threads: int | None = None
        self._rows = 0
        #: Verdicts of the rows that the scorers left open.
        self.verdicts: Counter[str] = Counter()
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

    def to_dict(self) -> dict[str, Any]:
        """What the run's judging came to, as JSON values."""
        usage = self.usage
        failed = sum(one.failed for one in usage)
        return {
            "rows": self._rows,
            "calls": sum(one.calls for one in usage),
            "cached": sum(one.cached for one in usage),
            "input_tokens": sum(one.usage.input_tokens for one in usage),
            "output_tokens": sum(one.usage.output_tokens for one in usage),
            **({"failed": failed} if failed else {}),
        }

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
        for index, result in zip(at, self._decide(values, progress), strict=True):
            results[index] = self._rewritten(results[index], result)
            self.verdicts[result.verdict] += 1
        self._rows += len(at)
        return b"\n".join(results) + b"\n"

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

        run = BatchRun(
            self._plan, self._session, texts, values, scored, self._concurrency, told, None
        )
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
