"""The prompts of a judge.

The target is evidence, not instruction: it stands in a fence that it cannot close, since runs of
back-ticks and tildes in it are broken by zero-width spaces. A verdict or a report that it fakes
stays inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._native import ScorerResult, format_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._native import GateResult

#: Three or more back-ticks or tildes open or close a fence.
_RUN = re.compile(r"`{3,}|~{3,}")

#: The fields of a template.
_FIELD = re.compile(r"\{(task|target|report|closing|variants)\}")

_BREAKS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")
_MARKER = re.compile(r"(verdict|score|winner)(?=[\s*_~`]*[:=\uff1a\uff1d])", re.IGNORECASE)

CLOSING = (
    'Return JSON {"score": 0.0-1.0, "verdict": "pass"|"block", "reason": "..."} '
    "(or end with VERDICT: PASS|BLOCK)."
)
WINNER_CLOSING = 'Return JSON {"winner": <number>, "reason": "..."} (or end with WINNER: <number>).'
RECOVERY = (
    "Your previous reply could not be read. Reply with one JSON object and nothing else: "
    '{"score": 0.0-1.0, "verdict": "pass"|"block", "reason": "..."}. Keep the reason under 80 '
    "characters and put no double quotes inside it."
)
WINNER_RECOVERY = (
    "Your previous reply could not be read. Reply with one JSON object and nothing else: "
    '{"winner": <number>, "reason": "..."}. Keep the reason under 80 characters and put no double '
    "quotes inside it."
)
WINNER_TASK = "Choose the best of the variants below."


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """How a prompt is put together.

    Attributes:
        text: the prompt with the fields ``{task}``, ``{target}`` (fenced), ``{report}`` and
            ``{closing}``, or for a winner ``{task}``, ``{variants}`` and ``{closing}``. Each is
            filled once; what a filled text holds is not read again.
        closing: the last line, which tells the judge how to answer.
        recovery: what is appended when the reply to the prompt could not be read.
    """

    text: str = "{task}\n\n---\n\n## Target under evaluation\n\n{target}\n\n{report}\n\n{closing}"
    closing: str = CLOSING
    recovery: str = RECOVERY

    def __post_init__(self) -> None:
        """Refuses a template without evidence."""
        if "{target}" not in self.text and "{variants}" not in self.text:
            raise ValueError("text: must hold {target}, or {variants} for a winner")

    def fill(self, **fields: str) -> str:
        """The prompt."""
        given = {"closing": self.closing, **fields}
        return _FIELD.sub(lambda found: given.get(found[1], found[0]), self.text)

    def recover(self, prompt: str) -> str:
        """The prompt of the one retry: another text, so that no cache gives the same reply."""
        return f"{prompt}\n\n{self.recovery}"


JUDGE_PROMPT = PromptTemplate()
WINNER_PROMPT = PromptTemplate(
    text="{task}\n\n---\n\n{variants}\n\n{closing}",
    closing=WINNER_CLOSING,
    recovery=WINNER_RECOVERY,
)


def neutralise(text: str) -> str:
    """Breaks runs of three and more back-ticks or tildes with U+200B."""
    return _RUN.sub(lambda run: "\u200b".join(run[0]), text)


def clean(text: str) -> str:
    """The text as UTF-8 can hold it: surrogate pairs are joined, lone halves become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def fence(text: str) -> str:
    """A text in a fence that it cannot close."""
    return f"```\n{neutralise(clean(text))}\n```"


def judge_prompt(
    task: str, target: str, scored: GateResult, template: PromptTemplate = JUDGE_PROMPT
) -> str:
    """The prompt of a gate's judge: task, fenced target, report, closing line.

    Args:
        task: the judge's task.
        target: the scored text.
        scored: what the scorers say of it.
        template: how the parts are put together.
    """
    return template.fill(task=clean(task), target=fence(target), report=_report(scored))


def winner_prompt(
    variants: Sequence[str], task: str = WINNER_TASK, template: PromptTemplate = WINNER_PROMPT
) -> str:
    """The prompt that lets a judge choose among variants, each in its fence."""
    blocks = [f"## Variant {number}\n\n{fence(text)}" for number, text in enumerate(variants, 1)]
    return template.fill(task=clean(task), variants="\n\n".join(blocks))


def _report(scored: GateResult) -> str:
    """The report. A detail may quote the target (a schema's violations do), and stays harmless."""
    results = scored.results
    safe = [_defused(result) for result in results]
    if safe == results:
        return scored.report
    return format_report(safe, scored.combined, threshold=scored.threshold)


def _defused(result: ScorerResult) -> ScorerResult:
    """The result with a detail on one line, without fences and without markers of a verdict."""
    if result.detail is None:
        return result
    detail = _MARKER.sub("\\1\u200b", neutralise(_BREAKS.sub(" ", result.detail)))
    return ScorerResult(result.name, result.type, result.passed, result.score, detail)
