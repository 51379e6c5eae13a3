"""The prompts of a judge.

The target is evidence, not instruction: it stands in a fence that it cannot close, since runs of
back-ticks and tildes in it are broken by zero-width spaces. A verdict or a report that it fakes
stays inside. So do the fields of its row that the gate names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._native import ScorerResult, format_report
from ._text import clean, cut

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._native import GateResult

#: Three or more back-ticks or tildes open or close a fence.
_RUN = re.compile(r"`{3,}|~{3,}")

#: The fields of a template.
_FIELD = re.compile(r"\{(task|fields|target|report|closing|variants)\}")

_BREAKS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")
_MARKER = re.compile(r"(verdict|score|winner)(?=[\s*_~`]*[:=\uff1a\uff1d])", re.IGNORECASE)

#: A report is at most so long, and then each of its lines, in bytes.
_REPORT_BYTES = 8 << 10
_LINE_BYTES = 400

_RETRY = (
    "Your previous reply could not be read. Reply with one JSON object and nothing else: {form}. "
    "Keep the reason under 80 characters and put no double quotes inside it."
)
WINNER_TASK = "Choose the best of the variants below."


@dataclass(frozen=True, slots=True)
class Asks:
    """What a gate's judge is asked to answer, by the gate's own words and scale.

    Attributes:
        closing: the last line of the prompt.
        recovery: what is appended when a reply could not be read.
        schema: the JSON Schema of the reply, for servers that can be held to one.
    """

    closing: str
    recovery: str
    schema: Mapping[str, Any]

    @classmethod
    def of(cls, form: Mapping[str, Any] | None = None) -> Asks:
        """By the ``judge.reply`` of a score block."""
        form = form or {}
        keys, labels = form.get("keys") or {}, form.get("labels") or {}
        score = _first(keys.get("score"), "score")
        verdict = _first(keys.get("verdict"), "verdict")
        label = _first(labels.get("verdict"), "VERDICT")
        words = [*(form.get("pass") or ["pass"]), *(form.get("block") or ["block"])]
        marks = [*(form.get("pass") or ["PASS"]), *(form.get("block") or ["BLOCK"])]
        scale = form.get("scale")
        numbers = "0.0-1.0"
        rule = ""
        if scale is not None:
            worst, best = (f"{end:.10g}" for end in scale)
            numbers = "-".join(sorted((worst, best), key=float))
            rule = f" A score of {best} is the best, {worst} the worst."
        choices = "|".join(_quoted(word) for word in words)
        asked = f'{{{_quoted(score)}: {numbers}, {_quoted(verdict)}: {choices}, "reason": "..."}}'
        return cls(
            closing=f"Return JSON {asked} (or end with {label}: {'|'.join(marks)}).{rule}",
            recovery=_RETRY.replace("{form}", asked) + rule,
            schema={
                "type": "object",
                "properties": {
                    score: {"type": "number"},
                    verdict: {"type": "string", "enum": words},
                    "reason": {"type": "string"},
                },
                "required": [score, verdict, "reason"],
                "additionalProperties": False,
            },
        )


def _first(names: Sequence[str] | None, default: str) -> str:
    return names[0] if names else default


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _winner_asks(choice: str, mark: str, schema: Mapping[str, Any]) -> Asks:
    form = f'{{"winner": {choice}, "reason": "..."}}'
    return Asks(
        closing=f"Return JSON {form} (or end with WINNER: {mark}).",
        recovery=_RETRY.replace("{form}", form),
        schema={
            "type": "object",
            "properties": {"winner": schema, "reason": {"type": "string"}},
            "required": ["winner", "reason"],
            "additionalProperties": False,
        },
    )


ASKS = Asks.of()
WINNER_ASKS = _winner_asks("<number>", "<number>", {"type": "integer"})


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """How a prompt is put together.

    Attributes:
        text: the prompt with the fields ``{task}``, ``{fields}`` (of the row, where the gate names
            some), ``{target}`` (fenced), ``{report}`` and ``{closing}``, or for a winner ``{task}``,
            ``{variants}`` and ``{closing}``. Each is filled once; what a filled text holds is not
            read again. Without ``{fields}`` they come before the target.
        closing: the last line, which tells the judge how to answer; by default as the gate reads
            replies.
        recovery: what is appended when the reply to the prompt could not be read; by default as
            the gate reads replies.
    """

    text: str = (
        "{task}\n\n---\n\n{fields}## Target under evaluation\n\n{target}\n\n{report}\n\n{closing}"
    )
    closing: str | None = None
    recovery: str | None = None

    def __post_init__(self) -> None:
        """Refuses a template without evidence."""
        if "{target}" not in self.text and "{variants}" not in self.text:
            raise ValueError("text: must hold {target}, or {variants} for a winner")

    def fill(self, asks: Asks = ASKS, **fields: str) -> str:
        """The prompt."""
        closing = asks.closing if self.closing is None else self.closing
        given = {"closing": closing, **fields}
        return _FIELD.sub(lambda found: given.get(found[1], found[0]), self.text)

    def recover(self, prompt: str, asks: Asks = ASKS) -> str:
        """The prompt of the one retry: another text, so that no cache gives the same reply."""
        recovery = asks.recovery if self.recovery is None else self.recovery
        return f"{prompt}\n\n{recovery}"


JUDGE_PROMPT = PromptTemplate()
WINNER_PROMPT = PromptTemplate("{task}\n\n---\n\n{variants}\n\n{closing}")


def neutralise(text: str) -> str:
    """Breaks runs of three and more back-ticks or tildes with U+200B."""
    return _RUN.sub(lambda run: "\u200b".join(run[0]), text)


def fence(text: str) -> str:
    """A text in a fence that it cannot close."""
    return f"```\n{neutralise(clean(text))}\n```"


def judge_prompt(
    task: str,
    target: str,
    scored: GateResult,
    template: PromptTemplate = JUDGE_PROMPT,
    *,
    fields: Mapping[str, Any] | None = None,
    asks: Asks = ASKS,
) -> str:
    """The prompt of a gate's judge: task, row fields, fenced target, report, closing line.

    Args:
        task: the judge's task.
        target: the scored text.
        scored: what the scorers say of it.
        template: how the parts are put together.
        fields: further fields of the row, each in a fence of its own; texts as they are, other
            values as JSON.
        asks: the words and the scale of the answer.
    """
    evidence = fence(target)
    more = "".join(_section(name, value) for name, value in (fields or {}).items())
    if "{fields}" not in template.text:
        evidence = more + evidence
    return template.fill(
        asks, task=clean(task), fields=more, target=evidence, report=report_of(scored)
    )


def _section(name: str, value: Any) -> str:
    """A field of the row under its name."""
    if value is None:
        text = "(missing)"
    elif isinstance(value, str):
        text = fence(value)
    else:
        text = fence(json.dumps(value, ensure_ascii=False, indent=2, default=str))
    return f"## {_one_line(clean(name))}\n\n{text}\n\n"


def winner_prompt(
    variants: Sequence[str],
    task: str = WINNER_TASK,
    template: PromptTemplate = WINNER_PROMPT,
    *,
    labels: Sequence[str] | None = None,
) -> str:
    """The prompt that lets a judge choose among variants, each in its fence.

    Args:
        variants: the texts.
        task: what the judge is to look at.
        template: how the parts are put together.
        labels: what the variants are called, in their order; by default their numbers from 1.
    """
    names = labels or [str(number) for number in range(1, len(variants) + 1)]
    blocks = [
        f"## Variant {_one_line(clean(name))}\n\n{fence(text)}"
        for name, text in zip(names, variants, strict=True)
    ]
    return template.fill(label_asks(labels), task=clean(task), variants="\n\n".join(blocks))


def label_asks(labels: Sequence[str] | None) -> Asks:
    """What a judge that chooses is asked to answer."""
    if labels is None:
        return WINNER_ASKS
    choices = "|".join(_quoted(clean(label)) for label in labels)
    return _winner_asks(choices, "|".join(map(clean, labels)), {"enum": list(labels)})


def report_of(scored: GateResult) -> str:
    """The report, bounded. A detail may quote the target, and stays harmless."""
    results = scored.results
    safe = [_defused(result) for result in results]
    report = scored.report
    if safe != results:
        report = format_report(safe, scored.combined, threshold=scored.threshold)
    if len(report) * 4 <= _REPORT_BYTES or len(report.encode()) <= _REPORT_BYTES:
        return report
    return _short(report.split("\n"), [result.passed for result in safe])


def _short(lines: list[str], passed: list[bool]) -> str:
    """A report of which only the first lines fit; those of scorers that fail come first."""
    body = [cut(line, _LINE_BYTES) for line in lines[1:-1]]
    left = _REPORT_BYTES - len("\n".join([lines[0], lines[-1]]).encode()) - _LINE_BYTES
    kept: set[int] = set()
    for index in sorted(range(len(body)), key=lambda index: passed[index]):
        size = len(body[index].encode()) + 1
        if size > left:
            break
        left -= size
        kept.add(index)
    shown = [line for index, line in enumerate(body) if index in kept]
    if len(kept) < len(body):
        shown.append(f"- … and {len(body) - len(kept)} more scorers")
    return "\n".join([lines[0], *shown, lines[-1]])


def _one_line(text: str) -> str:
    return neutralise(_BREAKS.sub(" ", text))


def _defused(result: ScorerResult) -> ScorerResult:
    """The result with a detail on one line, without fences and without markers of a verdict."""
    if result.detail is None:
        return result
    detail = _MARKER.sub("\\1\u200b", _one_line(result.detail))
    name = _one_line(result.name)
    return ScorerResult(name, result.type, result.passed, result.score, detail)
