"""From replies to votes, and from several votes to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .._native import parse_judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .protocol import Usage
    from .session import Asked

Reducer: TypeAlias = Literal["majority", "mean", "all", "any"]
OnUnparseable: TypeAlias = Literal["pass", "block"]
OnJudgeError: TypeAlias = Literal["undecided", "pass", "block"]
DecidedBy: TypeAlias = Literal["scorers", "judge", "policy"]

REDUCERS = ("majority", "mean", "all", "any")

#: The JSON Schema of a judge's reply.
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "verdict": {"type": "string", "enum": ["pass", "block"]},
        "reason": {"type": "string"},
    },
    "required": ["score", "verdict", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge said of one row.

    Attributes:
        judge: the judge's name.
        score: its score in [0, 1]; None when the call failed.
        verdict: ``pass`` or ``block``; None when the call failed.
        reason: its reason, where it gave one.
        parsed: whether its reply could be read; where not, score and verdict are the policy's.
        error: why the call failed.
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
    parsed: bool = False
    error: str | None = None
    source: str = "call"
    attempts: int = 0
    usage: Usage | None = None
    latency: float = 0.0
    replies: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge, or several together, say."""

    score: float
    verdict: Literal["pass", "block"]


def readable(text: str) -> bool:
    """Whether a reply can be read as a verdict or a score."""
    return parse_judge(text).parsed


def vote(
    judge: str, asked: Asked, on_unparseable: OnUnparseable, *, shared: bool, keep: bool
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
        return Vote(judge, None, None, error=asked.error or "no reply", **how)
    read = parse_judge(asked.reply.text, on_unparseable=on_unparseable)
    # A reply that nobody decides on gives no verdict to a vote.
    verdict = None if read.verdict == "undecided" else read.verdict
    return Vote(judge, read.score, verdict, read.reason, read.parsed, **how)


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
