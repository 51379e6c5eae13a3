"""Scorers first, then the judge for what they leave open."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .._native import GateResult, combine_with_judge
from .cache import JudgeCache
from .prompt import JUDGE_PROMPT, PromptTemplate, judge_prompt
from .protocol import AnyJudge, as_judges, close_judges, judge_name
from .reading import REDUCERS, REPLY_SCHEMA, Opinion, readable, settled, together, vote
from .results import JudgedBatch, JudgedResult, JudgeInfo, JudgingInterrupted
from .session import BUDGET_REACHED, Asked, Budget, Retry, Session

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Coroutine, Iterator, Mapping

    from .._native import BatchResult
    from ..gate import Gate
    from .protocol import Judge
    from .reading import DecidedBy, OnJudgeError, OnUnparseable, Reducer, Vote

T = TypeVar("T")
Texts: TypeAlias = "Sequence[str | None]"
Rows: TypeAlias = "Sequence[Mapping[str, Any] | None] | None"

INTERRUPTED = "interrupted"

#: So many prompts are made before others on the event loop have their turn.
_TURNS = 256

FAIL_OPEN = "unparseable judge output (fail-open)"


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


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The finer points of asking a judge.

    Attributes:
        retry: when a failed call is made again.
        prompt: how the prompt is put together.
        interpolate: fills the placeholders of the judge's task; it is given the task and the row.
            Without it they stay as they are.
        keep_replies: results hold the judge's raw replies.
        trial: cached replies are kept apart by it, for several samples of the same prompt.
    """

    retry: Retry = field(default_factory=Retry)
    prompt: PromptTemplate = JUDGE_PROMPT
    interpolate: Callable[[str, Mapping[str, Any] | None], str] | None = None
    keep_replies: bool = False
    trial: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does with a row that the scorers left open."""

    gate: Gate
    judges: list[Judge]
    reducer: Reducer
    on_judge_error: OnJudgeError
    on_unparseable: OnUnparseable
    options: JudgeOptions
    task: str
    weights: list[float] | None
    threshold: float

    @classmethod
    def read(
        cls,
        gate: Gate,
        judge: AnyJudge | Sequence[AnyJudge],
        reducer: Reducer,
        on_judge_error: OnJudgeError,
        on_unparseable: OnUnparseable | None,
        options: JudgeOptions | None,
    ) -> Plan:
        """Checks the arguments and reads what the score block says of its judge."""
        if reducer not in REDUCERS:
            raise ValueError(f"reducer: must be one of {'|'.join(REDUCERS)}")
        if on_judge_error not in ("undecided", "pass", "block"):
            raise ValueError("on_judge_error: must be one of undecided|pass|block")
        if on_unparseable not in (None, "pass", "block"):
            raise ValueError("on_unparseable: must be one of pass|block")
        spec = gate.spec
        block = spec.get("judge") or {}
        weights = spec.get("weights") or []
        folds = spec.get("combine") == "weighted" and len(weights) == len(spec["scorers"]) + 1
        return cls(
            gate=gate,
            judges=as_judges(judge),
            reducer=reducer,
            on_judge_error=on_judge_error,
            on_unparseable=on_unparseable or block.get("onUnparseable") or "pass",
            options=options or JudgeOptions(),
            task=block.get("task", ""),
            weights=weights if folds else None,
            threshold=gate.threshold or 0.5,
        )

    def session(self, budget: Budget, cache: JudgeCache | str | os.PathLike[str] | None) -> Session:
        """What asks the judges."""
        retry, trial = self.options.retry, self.options.trial
        return Session(
            self.judges, budget=budget, retry=retry, cache=open_cache(cache), trial=trial
        )

    def prompt(self, text: str, row: Mapping[str, Any] | None, scored: GateResult) -> str:
        """The prompt for a row."""
        interpolate = self.options.interpolate
        task = self.task if interpolate is None else interpolate(self.task, row)
        return judge_prompt(task, text, scored, self.options.prompt)

    def decide(self, scored: GateResult, votes: tuple[Vote, ...]) -> JudgedResult:
        """The result of a row by the votes on it."""

        def passes(opinion: Opinion) -> bool:
            if self.weights is None:
                return opinion.verdict == "pass"
            results, score = scored.results, opinion.score
            return combine_with_judge(results, self.weights, self.threshold, score).passed

        def known(unknown: Callable[[Vote], bool]) -> bool | None:
            return settled(votes, self.reducer, passes, unknown)

        opinion = together(votes, self.reducer)
        passed = known(lambda vote: vote.error is not None)
        if opinion is None or passed is None:
            return self._failed(scored, votes, _info(votes, opinion))
        info = _info(votes, opinion)
        combined = scored.combined
        if self.weights is not None:
            results = scored.results
            combined = combine_with_judge(
                results, self.weights, self.threshold, opinion.score
            ).combined
        by_judge = known(lambda vote: not vote.parsed) is not None
        reason = self._reason(votes, passed=passed, by_judge=by_judge, info=info)
        verdict = "pass" if passed else "block"
        by: DecidedBy = "judge" if by_judge else "policy"
        return _result(scored, verdict, combined, reason, by, info)

    def _failed(self, scored: GateResult, votes: tuple[Vote, ...], info: JudgeInfo) -> JudgedResult:
        """The result of a row whose judge gave no verdict that could be trusted."""
        error = next((vote.error for vote in votes if vote.error is not None), "no reply")
        reason = BUDGET_REACHED if error == BUDGET_REACHED else f"judge failed: {error}"
        by: DecidedBy | None = None if self.on_judge_error == "undecided" else "policy"
        return _result(scored, self.on_judge_error, scored.combined, reason, by, info)

    def _reason(
        self, votes: tuple[Vote, ...], *, passed: bool, by_judge: bool, info: JudgeInfo
    ) -> str | None:
        if passed:
            return None if by_judge else FAIL_OPEN
        if not by_judge:
            return next((v.reason for v in votes if not v.parsed and v.reason), None)
        if info.reason is not None:
            return info.reason
        if self.weights is not None:
            return "combined score below threshold"
        return "the judge's verdict is block"


def _result(
    scored: GateResult,
    verdict: Any,
    combined: float,
    reason: str | None,
    decided_by: DecidedBy | None,
    info: JudgeInfo | None,
) -> JudgedResult:
    result = GateResult(verdict, combined, scored.results, scored.threshold, reason, decided_by)
    return JudgedResult(result, scored, info)


def _info(votes: tuple[Vote, ...], opinion: Opinion | None) -> JudgeInfo:
    if opinion is None:
        return JudgeInfo(None, None, None, votes)
    agree = [vote for vote in votes if vote.verdict == opinion.verdict]
    reason = next((vote.reason for vote in agree if vote.reason), None)
    return JudgeInfo(opinion.score, opinion.verdict, reason, votes)


class BatchRun:
    """A batch that the judge goes through."""

    def __init__(
        self,
        plan: Plan,
        session: Session,
        texts: Texts,
        rows: Rows,
        scored: BatchResult,
        concurrency: int,
        progress: Callable[[Progress], None] | None,
        on_result: Callable[[int, JudgedResult], None] | None,
    ) -> None:
        self._plan = plan
        self._texts = texts
        self._rows = rows
        self._scored = scored
        self._concurrency = concurrency
        self._progress = progress
        self._on_result = on_result
        self._open = [i for i, code in enumerate(scored.columns["verdict"]) if code == 2]
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
        # Prompts are made again when their turn comes: so many texts are not held twice.
        groups: dict[bytes, list[int]] = {}
        for turn, index in enumerate(self._open):
            if turn % _TURNS == _TURNS - 1:
                await asyncio.sleep(0)
            key = hashlib.sha256(self._prompt(index).encode("utf-8", "surrogatepass")).digest()
            groups.setdefault(key, []).append(index)
        work = self._work(list(groups.values()))
        most = min(self._concurrency, len(groups) * len(self._plan.judges))
        workers = [asyncio.ensure_future(self._worker(work)) for _ in range(most)]
        try:
            if workers:
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
                template=self._plan.options.prompt,
                schema=REPLY_SCHEMA,
                readable=readable,
            )
            asked = [reply for reply in replies if reply is not None]
            if len(asked) == len(replies):
                self._finish(rows, asked)

    def _finish(self, rows: list[int], asked: list[Asked]) -> None:
        plan = self._plan
        names = [judge_name(judge) for judge in plan.judges]
        for index in rows:
            votes = tuple(
                vote(
                    name,
                    found,
                    plan.on_unparseable,
                    shared=index != rows[0],
                    keep=plan.options.keep_replies,
                )
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
        """Asks the judge for every open row and gives the results.

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
            raise JudgingInterrupted(self.batch()) from None
        return self.batch()

    def batch(self) -> JudgedBatch:
        """The results so far."""
        judged = dict(self._judged)
        for index in self._open:
            if index not in judged:
                scored = self._scored[index]
                judged[index] = _result(
                    scored, "undecided", scored.combined, INTERRUPTED, None, None
                )
        return JudgedBatch(self._scored, judged, self._session.spent)


def _sequence(given: Any) -> Any:
    """Iterables are read once, into a list; one text is left to be refused."""
    return given if isinstance(given, Sequence | None) else list(given)


def open_cache(cache: JudgeCache | str | os.PathLike[str] | None) -> JudgeCache | None:
    """A cache as it is, or from the path of its file."""
    return cache if cache is None or isinstance(cache, JudgeCache) else JudgeCache(cache)


def _warn_of_no_judge(gate: Gate) -> None:
    """Warns the caller of :class:`Gate` that the judge given is never asked."""
    if "judge" not in gate.spec:
        words = "the gate names no judge, so the judge that is given is never asked"
        warnings.warn(words, UserWarning, stacklevel=4)


def decide_batch(
    gate: Gate,
    texts: Texts,
    rows: Rows,
    *,
    judge: AnyJudge | Sequence[AnyJudge],
    reducer: Reducer,
    on_judge_error: OnJudgeError,
    on_unparseable: OnUnparseable | None,
    concurrency: int,
    max_calls: int | None,
    max_tokens: int | None,
    deadline: float | None,
    cache: JudgeCache | str | os.PathLike[str] | None,
    progress: Callable[[Progress], None] | None,
    on_result: Callable[[int, JudgedResult], None] | None,
    threads: int | None,
    options: JudgeOptions | None,
) -> JudgedBatch:
    """The work of :meth:`Gate.decide_batch`."""
    _warn_of_no_judge(gate)
    plan = Plan.read(gate, judge, reducer, on_judge_error, on_unparseable, options)
    budget = check_budget(concurrency, max_calls, max_tokens, deadline)
    session = plan.session(budget, cache)
    texts, rows = _sequence(texts), _sequence(rows)
    scored = gate.score_batch(texts, rows, threads=threads)
    run = BatchRun(plan, session, texts, rows, scored, concurrency, progress, on_result)

    return run.finish()


async def adecide_batch(
    gate: Gate,
    texts: Texts,
    rows: Rows,
    *,
    judge: AnyJudge | Sequence[AnyJudge],
    reducer: Reducer,
    on_judge_error: OnJudgeError,
    on_unparseable: OnUnparseable | None,
    concurrency: int,
    max_calls: int | None,
    max_tokens: int | None,
    deadline: float | None,
    cache: JudgeCache | str | os.PathLike[str] | None,
    progress: Callable[[Progress], None] | None,
    on_result: Callable[[int, JudgedResult], None] | None,
    threads: int | None,
    options: JudgeOptions | None,
) -> JudgedBatch:
    """The work of :meth:`Gate.adecide_batch`."""
    _warn_of_no_judge(gate)
    plan = Plan.read(gate, judge, reducer, on_judge_error, on_unparseable, options)
    budget = check_budget(concurrency, max_calls, max_tokens, deadline)
    session = plan.session(budget, cache)
    texts, rows = _sequence(texts), _sequence(rows)
    if len(texts) == 1:
        scored = gate.score_batch(texts, rows, threads=1)
    else:
        scored = await asyncio.to_thread(gate.score_batch, texts, rows, threads=threads)
    run = BatchRun(plan, session, texts, rows, scored, concurrency, progress, on_result)
    await run.judge()
    return run.batch()


def check_budget(
    concurrency: int, max_calls: int | None, max_tokens: int | None, deadline: float | None
) -> Budget:
    """The budget of a run, once its numbers are checked."""
    if concurrency < 1:
        raise ValueError("concurrency: must be at least 1")
    return Budget(max_calls=max_calls, max_tokens=max_tokens, deadline=deadline)


def run_sync(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end: here, or in a thread where an event loop runs already.

    Ctrl-C cancels it, waits for its end and raises KeyboardInterrupt.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main())
    # In a notebook, say.
    result: list[T] = []
    raised: list[BaseException] = []
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def inner() -> T:
        loops.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await main()

    def work() -> None:
        try:
            result.append(asyncio.run(inner()))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="scoregate-judge", daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        for loop, task in loops:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if raised:
        raise raised[0]
    return result[0]
