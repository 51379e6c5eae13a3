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

from ..errors import CacheError, JudgeError
from .cache import CacheInfo, JudgeCache
from .command import CommandJudge
from .decide import Progress
from .limits import Retry
from .named import named_judge
from .options import JudgeOptions
from .prompt import JUDGE_PROMPT, WINNER_PROMPT, PromptTemplate, judge_prompt, winner_prompt
from .protocol import AnyJudge, FunctionJudge, Judge, JudgeFunction, JudgeReply, Usage
from .reading import Vote
from .results import JudgedBatch, JudgedResult, JudgeInfo, JudgingInterrupted
from .session import ModelUsage
from .winner import PickedWinner, apick_winner, pick_winner

if TYPE_CHECKING:
    from .openai import OpenAIJudge

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


def __getattr__(name: str) -> Any:
    if name == "OpenAIJudge":  # only it needs the openai package
        from .openai import OpenAIJudge

        return OpenAIJudge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
