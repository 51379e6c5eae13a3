"""From replies to votes, and from several votes to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._native import parse_judge
from ._text import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._native import ReplyForm
    from ._limits import Limit
    from ._options import OnUnparseable, Reducer
    from ._protocol import Usage
    from ._session import Asked, Standing

DecidedBy: TypeAlias = Literal["scorers", "judge", "policy"]

#: How a reply was read, or that there is none: ``failed`` calls and calls not made for a limit.
State: TypeAlias = Literal["read", "disputed", "silent", "failed", "unasked"]

STATES: tuple[State, ...] = ("read", "disputed", "silent", "failed", "unasked")

#: A reason is kept to so many bytes.
_REASON_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge said of one row.

    Attributes:
        judge: the judge's name.
        score: its score in [0, 1]; None where there is no verdict.
        verdict: ``pass`` or ``block``; None when the call failed, or said nothing and the policy
            is ``undecided``.
        reason: its reason, where it gave one.
        state: ``read``; ``disputed``, where the reply contradicts or qualifies itself, which
            blocks; ``silent``, where it says nothing and score and verdict are the policy's;
            ``failed``; or ``unasked``, where a limit kept every call from being made.
        error: why there is no reply.
        limit: the limit that was reached: ``deadline``, ``calls``, ``tokens`` or ``errors``.
        clamped: the score was put into its range.
        source: ``call``, ``cache``, or ``shared`` where another row of the batch had the same
            prompt.
        attempts: calls made for this row.
        usage: their tokens, where reported.
        latency: seconds they took, waits included.
        replies: the raw replies, where they are asked for.
    """

    judge: str
    score: float | None
    verdict: Literal["pass", "block"] | None
    reason: str | None = field(default=None, repr=False)
    state: State = "read"
    error: str | None = None
    limit: Limit | None = None
    clamped: bool = False
    source: str = "call"
    attempts: int = 0
    usage: Usage | None = None
    latency: float = 0.0
    replies: tuple[str, ...] = field(default=(), repr=False)

    @property
    def parsed(self) -> bool:
        """Whether the reply says plainly what it says."""
        return self.state == "read"


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge, or several together, say."""

    score: float
    verdict: Literal["pass", "block"]


def standing(text: str, form: ReplyForm | None) -> Standing:
    """How a reply stands before any policy."""
    read = parse_judge(text, on_unparseable="undecided", reply=form)
    if read.state != "read":
        return read.state
    return "blocks" if read.verdict == "block" else "read"


def vote(
    judge: str,
    asked: Asked,
    on_unparseable: OnUnparseable,
    form: ReplyForm | None,
    *,
    shared: bool,
    keep: bool,
) -> Vote:
    """Reads what came of a prompt."""
    how: dict[str, Any] = {"source": asked.source, "latency": asked.latency}
    if shared:
        how = {"source": "shared"}
    else:
        how |= {"attempts": asked.attempts, "usage": asked.usage}
    if keep:
        how["replies"] = tuple(asked.replies)
    if asked.reply is None:
        state: State = "failed" if asked.limit is None or asked.attempts else "unasked"
        error = asked.error or "no reply"
        return Vote(judge, None, None, state=state, error=error, limit=asked.limit, **how)
    read = parse_judge(asked.reply.text, on_unparseable=on_unparseable, reply=form)
    reason = None if read.reason is None else cut(read.reason, _REASON_BYTES)
    verdict = None if read.verdict == "undecided" else read.verdict
    how |= {"state": read.state, "clamped": read.clamped}
    return Vote(judge, read.score, verdict, reason, **how)


def reduce(opinions: Sequence[Opinion], reducer: Reducer) -> Opinion:
    """One opinion of several.

    ``majority``: more than half must pass, and the score is the median. ``mean``: the mean score,
    which passes from 0.5 on. ``all``: every one must pass, the lowest score. ``any``: one must
    pass, the highest score. A single opinion stays as it is.
    """
    if len(opinions) == 1:
        return opinions[0]
    scores = [opinion.score for opinion in opinions]
    passes = sum(opinion.verdict == "pass" for opinion in opinions)
    if reducer == "mean":
        score = fmean(scores)
        passed = score >= 0.5
    elif reducer == "all":
        score, passed = min(scores), passes == len(opinions)
    elif reducer == "any":
        score, passed = max(scores), passes > 0
    else:
        score, passed = median(scores), passes * 2 > len(opinions)
    return Opinion(score, "pass" if passed else "block")


def settled(
    votes: Sequence[Vote],
    reducer: Reducer,
    decide: Callable[[Opinion], bool],
    unknown: Callable[[Vote], bool],
) -> bool | None:
    """Whether the gate passes, whatever the votes that are unknown were; None when it depends.

    Every reducer and every combination only rises with a vote, so that the two extremes tell.
    """
    verdicts = set()
    for extreme in (Opinion(0.0, "block"), Opinion(1.0, "pass")):
        opinions = [extreme if unknown(vote) else _opinion(vote) for vote in votes]
        verdicts.add(decide(reduce(opinions, reducer)))
    return verdicts.pop() if len(verdicts) == 1 else None


def together(votes: Sequence[Vote], reducer: Reducer) -> Opinion | None:
    """The opinion of those judges that answered; None when none did."""
    said = [_opinion(vote) for vote in votes if vote.verdict is not None]
    return reduce(said, reducer) if said else None


def _opinion(vote: Vote) -> Opinion:
    return Opinion(vote.score or 0.0, vote.verdict or "block")
