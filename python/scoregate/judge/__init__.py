"""The judge: asked only where it can change what the scorers say.

>>> import scoregate
>>> gate = scoregate.Gate({
...     "scorers": [{"type": "contains", "value": "0 errors"}],
...     "judge": {"task": "Does the build look fine?"},
... })
>>> gate.decide("no problems", judge=lambda prompt: "VERDICT: PASS").verdict
'pass'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import CacheError, JudgeError
from .._public import publish
from ._cache import CacheInfo, JudgeCache
from ._command import CommandJudge
from ._decide import Progress
from ._limits import Retry
from ._named import named_judge
from ._options import JudgeOptions
from ._prompt import JUDGE_PROMPT, WINNER_PROMPT, PromptTemplate, judge_prompt, winner_prompt
from ._protocol import AnyJudge, FunctionJudge, Judge, JudgeFunction, JudgeReply, Usage
from ._reading import Vote
from ._results import JudgedBatch, JudgedResult, JudgeInfo, JudgingInterrupted
from ._session import ModelUsage
from ._winner import PickedWinner, apick_winner, pick_winner

if TYPE_CHECKING:
    from ._openai import OpenAIJudge

__all__ = [
    "JUDGE_PROMPT",
    "WINNER_PROMPT",
    "AnyJudge",
    "CacheError",
    "CacheInfo",
    "CommandJudge",
    "FunctionJudge",
    "Judge",
    "JudgeCache",
    "JudgeError",
    "JudgeFunction",
    "JudgeInfo",
    "JudgeOptions",
    "JudgeReply",
    "JudgedBatch",
    "JudgedResult",
    "JudgingInterrupted",
    "ModelUsage",
    "OpenAIJudge",
    "PickedWinner",
    "Progress",
    "PromptTemplate",
    "Retry",
    "Usage",
    "Vote",
    "apick_winner",
    "judge_prompt",
    "named_judge",
    "pick_winner",
    "winner_prompt",
]


publish(__name__, __all__, globals())


def __getattr__(name: str) -> Any:
    if name == "OpenAIJudge":  # only it needs the openai package
        from ._openai import OpenAIJudge

        return OpenAIJudge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
