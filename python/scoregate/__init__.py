"""Deterministic scoring gates for LLM output.

>>> import scoregate
>>> gate = scoregate.Gate({"scorers": [{"type": "contains", "value": "0 errors"}]})
>>> gate.score("done: 0 errors").verdict
'pass'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import (
    BatchResult,
    Combination,
    GateResult,
    JSONDiagnostic,
    JSONResult,
    JSONStream,
    JsRegex,
    ScorerResult,
    __version__,
    combine_scores,
    combine_with_judge,
    contract_shape_errors,
    contract_violations,
    extract_json_batch,
    format_report,
    parse_json,
    score_shape_errors,
)
from ._native import extract_json as _extract_json
from .errors import (
    InputError,
    JSONNotFoundError,
    JsRegexBudgetError,
    JsRegexError,
    OutputError,
    ScoregateError,
    SpecError,
    TooManyBadRowsError,
)
from .gate import Gate, evaluate_scorer, scorer_types

if TYPE_CHECKING:
    from . import json_repair
    from .files import FileSummary, score_file

__all__ = [
    "BatchResult",
    "Combination",
    "FileSummary",
    "Gate",
    "GateResult",
    "InputError",
    "JSONDiagnostic",
    "JSONNotFoundError",
    "JSONResult",
    "JSONStream",
    "JsRegex",
    "JsRegexBudgetError",
    "JsRegexError",
    "OutputError",
    "ScoregateError",
    "ScorerResult",
    "SpecError",
    "TooManyBadRowsError",
    "__version__",
    "combine_scores",
    "combine_with_judge",
    "contract_shape_errors",
    "contract_violations",
    "evaluate_scorer",
    "extract_json",
    "extract_json_batch",
    "format_report",
    "json_repair",
    "parse_json",
    "score_file",
    "score_shape_errors",
    "scorer_types",
]

#: Names that are loaded when they are first asked for, and their modules.
_LAZY = {"FileSummary": "files", "score_file": "files"}

_RAISE: Any = object()


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None and name != "json_repair":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if module is None:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
