"""Deterministic scoring gates for LLM output.

>>> import scoregate
>>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "0 errors"}]})
>>> gate.score("done: 0 errors").verdict
'pass'
"""

from __future__ import annotations

from ._errors import (
    CacheError,
    InputError,
    JSONNotFoundError,
    JsRegexBudgetError,
    JsRegexError,
    JudgeError,
    OptionError,
    OutputError,
    ScoregateError,
    SpecError,
    SpecIssue,
    TooManyBadRowsError,
)
from ._gate import Gate, evaluate_scorer, scorer_types
from ._native import (
    BatchResult,
    Combination,
    Condition,
    Context,
    GateResult,
    Interpolation,
    JSONDiagnostic,
    JSONResult,
    JSONStream,
    JsRegex,
    JudgeVerdict,
    ScorerResult,
    Verdict,
    Winner,
    __version__,
    combine_scores,
    combine_with_judge,
    contract_shape_errors,
    contract_violations,
    evaluate_condition,
    extract_json_batch,
    format_report,
    interpolate,
    parse_json,
    parse_judge,
    parse_judge_batch,
    parse_verdict,
    parse_verdict_batch,
    parse_winner,
    parse_winner_batch,
    score_shape_errors,
)
from ._native import extract_json as _extract_json
from ._public import publish as _publish

# Importing typing costs more than all the rest of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import flow, json_repair, judge
    from ._files import DetailCount, FileSummary, ScorerCount, score_file

__all__ = [
    "BatchResult",
    "CacheError",
    "Combination",
    "Condition",
    "Context",
    "DetailCount",
    "FileSummary",
    "Gate",
    "GateResult",
    "InputError",
    "Interpolation",
    "JSONDiagnostic",
    "JSONNotFoundError",
    "JSONResult",
    "JSONStream",
    "JsRegex",
    "JsRegexBudgetError",
    "JsRegexError",
    "JudgeError",
    "JudgeVerdict",
    "OptionError",
    "OutputError",
    "ScoregateError",
    "ScorerCount",
    "ScorerResult",
    "SpecError",
    "SpecIssue",
    "TooManyBadRowsError",
    "Verdict",
    "Winner",
    "__version__",
    "combine_scores",
    "combine_with_judge",
    "contract_shape_errors",
    "contract_violations",
    "evaluate_condition",
    "evaluate_scorer",
    "extract_json",
    "extract_json_batch",
    "flow",
    "format_report",
    "interpolate",
    "json_repair",
    "judge",
    "parse_json",
    "parse_judge",
    "parse_judge_batch",
    "parse_verdict",
    "parse_verdict_batch",
    "parse_winner",
    "parse_winner_batch",
    "score_file",
    "score_shape_errors",
    "scorer_types",
]

#: Names that are loaded when they are first asked for, and their modules.
_LAZY = dict.fromkeys(("DetailCount", "FileSummary", "ScorerCount", "score_file"), "_files")

_RAISE: Any = object()


_publish(__name__, __all__, globals())


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None and name not in ("flow", "json_repair", "judge"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if module is None:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def extract_json(text: str | bytes, *, repair: bool = False, default: Any = _RAISE) -> Any:
    """The JSON value that a text holds.

    The whole text is tried first, then fenced blocks (those tagged ``json`` before others), then
    the span from the first bracket to the last closer of its kind. With ``repair`` the document is
    chosen and mended as in `parse_json`. Integers keep all digits.

    Args:
        text: model output; ``bytes`` are UTF-8.
        repair: whether broken JSON is mended.
        default: what to give where no JSON is found.

    Raises:
        JSONNotFoundError: no JSON is found and there is no default.
    """
    if default is _RAISE:
        return _extract_json(text, repair=repair)
    return _extract_json(text, default, repair=repair, has_default=True)
