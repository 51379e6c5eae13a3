"""Every field of a flow and of its phases, declared once: for the validator and for the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: The types of phases.
TYPES = ("agent", "gate", "tournament", "script")

#: How many phases run at a time, where the flow does not say.
CONCURRENCY = 8

#: The name that stands for every agent that is not named.
DEFAULT_AGENT = "default"

#: More phases are no flow: what a phase can reach is kept for each.
MOST_PHASES = 10_000


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a flow or of a phase.

    Attributes:
        name: its key.
        values: what it holds, in words.
        default: what it is when absent, in words.
        doc: what it does.
        example: a value, as JSON.
        types: the types of phases that have it.
    """

    name: str
    values: str
    default: str
    doc: str
    example: Any
    types: tuple[str, ...] = TYPES


_AGENTS = ("agent", "gate", "tournament")

FLOW_FIELDS = (
    Field("name", "text", "required", "what the flow is called", "validate"),
    Field(
        "phases",
        "list of phases",
        "required",
        "what is done; at least one, at most 10,000",
        [{"id": "generate", "task": "Write."}],
    ),
    Field(
        "args",
        "object of `{default?, required?}`",
        "any arguments",
        "the arguments that `{args.NAME}` may name",
        {"topic": {"default": "users"}, "path": {"required": True}},
    ),
    Field(
        "strictInterpolation",
        "true or false",
        "false",
        "a placeholder that stands for nothing fails its phase, in place of a warning",
        True,
    ),
    Field("concurrency", "whole number from 1", "8", "phases, and calls, at a time", 4),
    Field(
        "budget",
        "object of `maxTokens?`, `maxCalls?`, `maxUSD?`",
        "no limit",
        "what the run may spend; then it is cancelled, and can be resumed",
        {"maxCalls": 20, "maxTokens": 100000},
    ),
)

PHASE_FIELDS = (
    Field("id", "letters, digits and `-`", "required", "its name, unique", "check-response"),
    Field(
        "type",
        "`agent`, `gate`, `tournament` or `script`",
        "`agent`",
        "what kind of phase it is",
        "gate",
    ),
    Field(
        "dependsOn",
        "list of ids",
        "none",
        "the phases that must be done first; only they, and those before them, can be named in "
        "`{steps.ID…}`",
        ["generate"],
    ),
    Field(
        "join",
        "`all` or `any`",
        "`all`",
        "whether all of `dependsOn` must be done, or one is enough",
        "any",
    ),
    Field(
        "when",
        "condition",
        "always",
        "runs only if it is true, else is skipped; one that cannot be read is true, with a warning",
        "{steps.generate.json.count} > 0",
    ),
    Field(
        "task",
        "text with placeholders",
        "required for an agent",
        "the prompt",
        "Write {args.what}.",
        _AGENTS,
    ),
    Field("agent", "name", "`default`", "who is asked", "executor", _AGENTS),
    Field(
        "output",
        "`text` or `json`",
        "`text`",
        "`json`: the output must hold a JSON value, else the attempt fails",
        "json",
        ("agent", "gate"),
    ),
    Field(
        "expect",
        "contract",
        "none",
        "what the JSON of the output must be, else the attempt fails",
        {"type": "object", "required": ["status"]},
        ("agent", "gate"),
    ),
    Field(
        "retry",
        "object of `max`, `delayMs?`, `backoff?`",
        "no retry",
        "how often a failed attempt is made again, after how long, and by which factor the wait "
        "grows; of a gate with `onBlock: retry`, also the rounds",
        {"max": 2, "delayMs": 500, "backoff": 2},
    ),
    Field("timeoutMs", "number over 0", "no limit", "the time of one attempt", 30000),
    Field(
        "eval",
        "list of conditions, or `TEMPLATE contains TEXT`",
        "none",
        "checks that cost nothing; if all hold the gate passes",
        ["{steps.generate.output} contains 0 errors"],
        ("gate",),
    ),
    Field(
        "score",
        "[score block](gate.md)",
        "none",
        "scorers, and a judge where they fail",
        {"scorers": [{"type": "contains", "value": "ok"}]},
        ("gate",),
    ),
    Field(
        "onBlock",
        "`halt` or `retry`",
        "`halt`",
        "`retry`: what the gate depends on runs again, with `{reflexion}`, then the gate",
        "retry",
        ("gate",),
    ),
    Field(
        "variants",
        "number from 1, or list of tasks",
        "required for a tournament",
        "so many outputs of the task, or one of each task",
        3,
        ("tournament",),
    ),
    Field(
        "judge",
        "object of `task?`, `agent?`, `swapOrder?`, or the task",
        "the best wins",
        "who chooses, and by what; `swapOrder` asks in both orders",
        {"task": "Which is clearest?", "agent": "reviewer"},
        ("tournament",),
    ),
    Field(
        "run",
        "list of arguments",
        "required for a script",
        "the command, without a shell; each argument is filled on its own",
        ["wc", "-w"],
        ("script",),
    ),
    Field(
        "input",
        "text with placeholders",
        "nothing",
        "the standard input of the command",
        "{previous.output}",
        ("script",),
    ),
)

#: Keys that say something to people and editors, and nothing to a run.
FLOW_NOTES = ("$schema", "$comment", "description")
PHASE_NOTES = ("$comment", "description")

FLOW_KEYS = tuple(field.name for field in FLOW_FIELDS)
PHASE_KEYS = {field.name: field for field in PHASE_FIELDS}

#: The kinds of issues of flows, beside those of gates.
KINDS = {
    "duplicate_id": "two phases have one id",
    "unknown_phase": "no phase has this id",
    "cycle": "phases that wait for each other",
    "self_reference": "a phase that names its own output",
    "unreachable_reference": "a step that is not certain to have run before",
    "unknown_reference": "a placeholder that can stand for nothing",
    "untrusted": "what an untrusted flow may not do",
    "eval_with_score": "warning: both `eval` and `score`; if `eval` passes, `score` never runs",
    "nothing_to_score": "warning: a gate without `dependsOn` that scores `{previous.output}`",
    "literal_placeholder": "warning: a placeholder that no run fills, and that stays as it is",
    "bad_condition": "warning: a condition that cannot be read, which counts as true",
}
