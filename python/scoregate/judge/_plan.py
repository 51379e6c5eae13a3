"""What a gate's score block and the options say about rows that the scorers left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .._errors import JudgeError
from .._native import GateResult, ReplyForm, combine_with_judge
from ._named import as_judges
from ._prompt import Asks, judge_prompt
from ._reading import Opinion, settled, standing, together, vote
from ._results import JudgedResult, JudgeInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .._native import BatchResult
    from ._options import JudgeOptions, OnUnparseable
    from ._protocol import AnyJudge, Judge
    from ._reading import DecidedBy, Vote
    from ._session import Asked, Standing

FAIL_OPEN = "unparseable judge output (fail-open)"
UNDECIDED = "unparseable judge output (undecided)"


class Scoring(Protocol):
    """What this package needs of a gate."""

    @property
    def spec(self) -> dict[str, Any]:
        """The score block."""

    @property
    def threshold(self) -> float | None:
        """The threshold of a weighted gate."""

    def score_batch(
        self,
        texts: Sequence[str | None],
        rows: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        threads: int | None = None,
    ) -> BatchResult:
        """Scores many texts."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does with a row that the scorers left open."""

    judges: list[Judge]
    options: JudgeOptions
    on_unparseable: OnUnparseable
    task: str
    fields: tuple[str, ...]
    form: ReplyForm | None
    asks: Asks
    weights: list[float] | None
    threshold: float

    @classmethod
    def read(
        cls, gate: Scoring, judge: AnyJudge | Sequence[AnyJudge], options: JudgeOptions
    ) -> Plan:
        """Reads what the score block says of its judge."""
        spec = gate.spec
        block = spec.get("judge") or {}
        weights = spec.get("weights") or []
        folds = spec.get("combine") == "weighted" and len(weights) == len(spec["scorers"]) + 1
        return cls(
            judges=as_judges(judge),
            options=options,
            on_unparseable=options.on_unparseable or block.get("onUnparseable") or "pass",
            task=block.get("task", ""),
            fields=tuple(block.get("fields") or ()),
            form=ReplyForm(block["reply"]) if block.get("reply") is not None else None,
            asks=Asks.of(block.get("reply")),
            weights=weights if folds else None,
            threshold=gate.threshold or 0.5,
        )

    def prompt(self, text: str, row: Mapping[str, Any] | None, scored: GateResult) -> str:
        """The prompt of a row."""
        interpolate = self.options.interpolate
        task = self.task if interpolate is None else interpolate(self.task, row)
        values = {name: None if row is None else row.get(name) for name in self.fields}
        template = self.options.prompt
        return judge_prompt(task, text, scored, template, fields=values, asks=self.asks)

    def recovery(self, prompt: str) -> str:
        """The prompt of the second try."""
        return self.options.prompt.recover(prompt, self.asks)

    def stands(self, text: str) -> Standing:
        """How a reply stands before any policy."""
        return standing(text, self.form)

    def vote(self, judge: str, asked: Asked, *, shared: bool) -> Vote:
        """What a judge said of a row."""
        keep = self.options.keep_replies
        return vote(judge, asked, self.on_unparseable, self.form, shared=shared, keep=keep)

    def decide(self, scored: GateResult, votes: tuple[Vote, ...]) -> JudgedResult:
        """The result of a row by the votes on it.

        Raises:
            JudgeError: a call failed that could matter, and ``on_judge_error`` is ``fail``.
        """

        def passes(opinion: Opinion) -> bool:
            if self.weights is None:
                return opinion.verdict == "pass"
            results, score = scored.results, opinion.score
            return combine_with_judge(results, self.weights, self.threshold, score).passed

        def known(unknown: Callable[[Vote], bool]) -> bool | None:
            return settled(votes, self.options.reducer, passes, unknown)

        opinion = together(votes, self.options.reducer)
        info = _info(votes, opinion)
        passed = known(lambda vote: vote.verdict is None)
        if opinion is None or passed is None:
            return self._open(scored, votes, info)
        combined = scored.combined
        if self.weights is not None:
            results = scored.results
            combined = combine_with_judge(
                results, self.weights, self.threshold, opinion.score
            ).combined
        # A disputed reply blocks by what it says, a silent one by what was chosen for it.
        by_judge = known(lambda vote: vote.state not in ("read", "disputed")) is not None
        reason = self._reason(votes, passed=passed, by_judge=by_judge, info=info)
        verdict = "pass" if passed else "block"
        return result_of(scored, verdict, combined, reason, "judge" if by_judge else "policy", info)

    def _open(self, scored: GateResult, votes: tuple[Vote, ...], info: JudgeInfo) -> JudgedResult:
        """The result of a row whose judge gave no verdict that could be trusted."""
        lacking = [vote for vote in votes if vote.verdict is None]
        unasked = next((vote for vote in lacking if vote.limit is not None), None)
        failed = next((vote for vote in lacking if vote.state == "failed"), None)
        first = failed or unasked
        if first is None:
            reason: str | None = next((vote.reason for vote in lacking if vote.reason), UNDECIDED)
        else:
            reason = first.error if first.limit is not None else f"judge failed: {first.error}"
        policy = self.options.on_judge_error
        if policy == "fail":
            if failed is not None and failed.limit is None:
                raise JudgeError(f"judge failed: {failed.error}")
            policy = "undecided"
        if any(vote.state == "silent" for vote in lacking):
            policy = "undecided"
        by: DecidedBy | None = None if policy == "undecided" else "policy"
        return result_of(scored, policy, scored.combined, reason, by, info)

    def _reason(
        self, votes: tuple[Vote, ...], *, passed: bool, by_judge: bool, info: JudgeInfo
    ) -> str | None:
        if passed:
            return None if by_judge else FAIL_OPEN
        if not by_judge:
            return next((v.reason for v in votes if v.state == "silent" and v.reason), None)
        if info.reason is not None:
            return info.reason
        if self.weights is not None:
            return "combined score below threshold"
        return "the judge's verdict is block"


def result_of(
    scored: GateResult,
    verdict: Any,
    combined: float,
    reason: str | None,
    decided_by: DecidedBy | None,
    info: JudgeInfo | None,
) -> JudgedResult:
    """A result that keeps what the scorers said."""
    result = GateResult(verdict, combined, scored.results, scored.threshold, reason, decided_by)
    return JudgedResult(result, scored, info)


def _info(votes: tuple[Vote, ...], opinion: Opinion | None) -> JudgeInfo:
    if opinion is None:
        return JudgeInfo(None, None, None, votes)
    agree = [vote for vote in votes if vote.verdict == opinion.verdict]
    reason = next((vote.reason for vote in agree if vote.reason), None)
    return JudgeInfo(opinion.score, opinion.verdict, reason, votes)
