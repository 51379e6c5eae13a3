"""Scorers first, then the judge for what they leave open."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .._native import list_texts
from ._options import JudgeOptions
from ._plan import Plan, result_of
from ._protocol import close_judges, judge_name
from ._results import JudgedBatch, JudgedResult, JudgingInterrupted
from ._running import run_sync
from ._session import Asked, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .._native import BatchResult
    from .._tables import Texts
    from ._options import JudgeKeywords
    from ._plan import Scoring
    from ._protocol import AnyJudge

log = logging.getLogger("scoregate.judge")

Rows: TypeAlias = "Sequence[Mapping[str, Any] | None] | None"

INTERRUPTED = "interrupted"

#: So many prompts are made before others on the event loop have their turn.
_TURNS = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is.

    Attributes:
        done: rows that the judge is done with.
        total: rows that the scorers left open.
        calls: calls made.
        tokens: tokens spent, estimated where a judge reports none.
    """

    done: int
    total: int
    calls: int
    tokens: int


class BatchRun:
    """A batch that the judge goes through.

    Args:
        plan: what is done with an open row.
        session: asks the judges.
        texts: the texts.
        rows: the other fields of each row.
        scored: what the scorers say of them.
        progress: called after each prompt that is done with.
        on_result: called with the index and the result of each row that the judge is done with.
    """

    def __init__(
        self,
        plan: Plan,
        session: Session,
        texts: Sequence[str | None],
        rows: Rows,
        scored: BatchResult,
        progress: Callable[[Progress], None] | None = None,
        on_result: Callable[[int, JudgedResult], None] | None = None,
    ) -> None:
        self._plan = plan
        self._texts = texts
        self._rows = rows
        self._scored = scored
        self._progress = progress
        self._on_result = on_result
        self._open = [i for i, code in enumerate(scored["verdict_code"]) if code == 2]
        self._judged: dict[int, JudgedResult] = {}
        self._session = session

    def _prompt(self, index: int) -> str:
        text = self._texts[index]
        row = None if self._rows is None else self._rows[index]
        return self._plan.prompt(text or "", row, self._scored[index])

    async def judge(self) -> None:
        """Asks the judge for every open row, equal prompts once.

        Cancelling it stops the calls in flight and keeps what is done.
        """
        if not self._open:
            return
        await self._session.open()
        try:
            await self._ask_all()
        finally:
            await self._session.close()

    async def _ask_all(self) -> None:
        # Prompts are made again when their turn comes: so many texts are not held twice.
        groups: dict[bytes, list[int]] = {}
        for turn, index in enumerate(self._open):
            if turn % _TURNS == _TURNS - 1:
                await asyncio.sleep(0)
            key = hashlib.sha256(self._prompt(index).encode("utf-8", "surrogatepass")).digest()
            groups.setdefault(key, []).append(index)
        work = self._work(list(groups.values()))
        most = min(self._plan.options.concurrency, len(groups) * len(self._plan.judges))
        workers = [asyncio.ensure_future(self._worker(work)) for _ in range(most)]
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _work(self, groups: list[list[int]]) -> Iterator[tuple[list[int], int, list[Asked | None]]]:
        """What there is to ask, one judge and one prompt at a time."""
        for rows in groups:
            replies: list[Asked | None] = [None] * len(self._plan.judges)
            for judge in range(len(self._plan.judges)):
                yield rows, judge, replies

    async def _worker(self, work: Iterator[tuple[list[int], int, list[Asked | None]]]) -> None:
        for rows, judge, replies in work:
            replies[judge] = await self._session.ask(
                judge,
                self._prompt(rows[0]),
                recover=self._plan.recovery,
                schema=self._plan.asks.schema,
                stands=self._plan.stands,
            )
            asked = [reply for reply in replies if reply is not None]
            if len(asked) == len(replies):
                self._finish(rows, asked)

    def _finish(self, rows: list[int], asked: list[Asked]) -> None:
        plan = self._plan
        names = [judge_name(judge) for judge in plan.judges]
        for index in rows:
            votes = tuple(
                plan.vote(name, found, shared=index != rows[0])
                for name, found in zip(names, asked, strict=True)
            )
            result = self._judged[index] = plan.decide(self._scored[index], votes)
            if self._on_result is not None:
                self._on_result(index, result)
        if self._progress is not None:
            budget = self._session.budget
            done, total = len(self._judged), len(self._open)
            self._progress(Progress(done, total, budget.calls, budget.tokens))

    def finish(self) -> JudgedBatch:
        """``judge`` to its end, and the results.

        Raises:
            JudgingInterrupted: Ctrl-C.
        """

        async def main() -> None:
            try:
                await self.judge()
            finally:
                await close_judges(self._plan.judges)

        try:
            if self._open:
                run_sync(main)
        except KeyboardInterrupt:
            raise JudgingInterrupted(self.batch(), frozenset(self._judged)) from None
        return self.batch()

    def batch(self) -> JudgedBatch:
        """The results so far."""
        judged = dict(self._judged)
        for index in self._open:
            if index not in judged:
                scored = self._scored[index]
                judged[index] = result_of(
                    scored, "undecided", scored.combined, INTERRUPTED, None, None
                )
        return JudgedBatch(self._scored, judged, self._session.spent, self._session.failures)


class _Batch:
    """The arguments of a batch, read."""

    def __init__(
        self,
        gate: Scoring,
        texts: Texts,
        rows: Rows,
        judge: AnyJudge | Sequence[AnyJudge],
        options: JudgeOptions,
    ) -> None:
        if "judge" not in gate.spec:
            words = "the gate names no judge, so the judge that is given is never asked"
            warnings.warn(words, UserWarning, stacklevel=4)
        self.gate, self.texts, self.rows = gate, list_texts(texts), _sequence(rows)
        self.plan = Plan.read(gate, judge, options)
        self.session = Session(self.plan.judges, options)

    def run(
        self,
        threads: int | None,
        progress: Callable[[Progress], None] | None,
        on_result: Callable[[int, JudgedResult], None] | None,
    ) -> BatchRun:
        """Scores the texts; the rest is for the judge."""
        scored = self.gate.score_batch(self.texts, self.rows, threads=threads)
        return BatchRun(self.plan, self.session, self.texts, self.rows, scored, progress, on_result)


def _sequence(given: Any) -> Any:
    """Iterables are read once, into a list; what is no list of rows is left to be refused."""
    known = isinstance(given, Sequence | None) or hasattr(type(given), "columns")
    return given if known else list(given)


def _told(batch: JudgedBatch) -> JudgedBatch:
    """The batch, once it is said that its judge was of no use."""
    if batch.trouble is not None:
        log.warning("%s", batch.trouble)
    return batch


def decide_batch(
    gate: Scoring,
    texts: Texts,
    rows: Rows,
    judge: AnyJudge | Sequence[AnyJudge],
    options: JudgeOptions | None,
    keywords: JudgeKeywords,
    *,
    progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[int, JudgedResult], None] | None = None,
    threads: int | None = None,
) -> JudgedBatch:
    """The work of ``Gate.decide_batch``."""
    batch = _Batch(gate, texts, rows, judge, JudgeOptions.of(options, keywords))
    return _told(batch.run(threads, progress, on_result).finish())


async def adecide_batch(
    gate: Scoring,
    texts: Texts,
    rows: Rows,
    judge: AnyJudge | Sequence[AnyJudge],
    options: JudgeOptions | None,
    keywords: JudgeKeywords,
    *,
    progress: Callable[[Progress], None] | None = None,
    on_result: Callable[[int, JudgedResult], None] | None = None,
    threads: int | None = None,
) -> JudgedBatch:
    """The work of ``Gate.adecide_batch``."""
    batch = _Batch(gate, texts, rows, judge, JudgeOptions.of(options, keywords))
    if len(batch.texts) == 1:
        run = batch.run(1, progress, on_result)
    else:
        run = await asyncio.to_thread(batch.run, threads, progress, on_result)
    await run.judge()
    return _told(run.batch())
