"""What the tests of the judge share."""

from __future__ import annotations

from typing import Any

from scoregate import Gate
from scoregate.judge import JudgeOptions, OpenAIJudge, Retry

#: Retries that do not make a test wait.
QUICK = JudgeOptions(retry=Retry(attempts=4, base=0.01, most=0.02))

TASK = "Is this fine?"


def gate(**block: Any) -> Gate:
    """A gate that wants `ok` in a text, with a judge."""
    spec: dict[str, Any] = {
        "scorers": [{"type": "contains", "value": "ok", "name": "says-ok"}],
        "judge": {"task": TASK},
    }
    judge = block.pop("judge", {})
    return Gate({**spec, **block, "judge": {"task": TASK, **judge}})


def two(**block: Any) -> Gate:
    """A gate with two scorers: `a` and `b` in a text."""
    scorers = [{"type": "contains", "value": value} for value in "ab"]
    return gate(scorers=scorers, **block)


def judge_of(chat: Any, **options: Any) -> OpenAIJudge:
    """A judge that asks a test server."""
    return OpenAIJudge("test-model", base_url=chat.url, **{"timeout": 5.0, **options})
