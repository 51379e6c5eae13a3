"""A chat completion: its reply, and why it may be none."""

from __future__ import annotations

import json
from typing import Any

from .._errors import JudgeError
from ._protocol import Fault, JudgeReply, Usage


def read_completion(data: bytes) -> JudgeReply:
    """The reply in the body of a chat completion.

    Raises:
        JudgeError: it holds none.
    """
    try:
        found = json.loads(data)
        choice = found["choices"][0]
        message = choice["message"]
        text = message.get("content")
        if isinstance(text, list):  # some servers answer in parts
            text = "".join(part.get("text") or "" for part in text)
        if not isinstance(text, str | None):
            raise TypeError
        fault = _fault(message, text, choice.get("finish_reason"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        message = "the response is no chat completion"
        raise JudgeError(message, retryable=True) from None
    model = found.get("model")
    usage = _usage(found.get("usage"))
    return JudgeReply(text or "", usage, model if isinstance(model, str) else None, fault)


#: What a finish reason says of the text.
_FINISHES: dict[str, Fault] = {"content_filter": "content_filter", "length": "cut"}


def _fault(message: dict[str, Any], text: str | None, finish: Any) -> Fault | None:
    """Why a message is no reply."""
    if message.get("refusal"):
        return "refusal"
    fault = _FINISHES.get(finish) if isinstance(finish, str) else None
    if fault is not None:
        return fault
    if text is not None and text.strip():
        return None
    if message.get("tool_calls") or message.get("function_call"):
        return "tool_calls"
    thought = message.get("reasoning") or message.get("reasoning_content")
    return "no_content" if thought else "empty"


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, dict):
        return None
    counts = [found.get("prompt_tokens"), found.get("completion_tokens")]
    numbers = [count if type(count) is int and count >= 0 else 0 for count in counts]
    return Usage(*numbers) if any(type(count) is int for count in counts) else None
