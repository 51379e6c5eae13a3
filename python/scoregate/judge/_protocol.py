"""What a judge is: something that takes a prompt and gives a text.

Four kinds are accepted wherever a judge is: an object with an ``ask`` method, a plain function
from a prompt to a text, an ``async`` function of the same shape, and a name such as
``"openai:MODEL"`` or ``"cmd:COMMAND"``.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from .._errors import JudgeError
from ._text import clean, cut

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

log = logging.getLogger("scoregate.judge")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one or more calls.

    Attributes:
        input_tokens: those of the prompts.
        output_tokens: those of the replies.
    """

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """The tokens of both."""
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


#: Why what came is no reply, or only the start of one (``cut``).
Fault: TypeAlias = Literal["refusal", "content_filter", "tool_calls", "no_content", "empty", "cut"]

#: A failed call's cause in words, by what is wrong with what came.
FAULTS: dict[Fault, str] = {
    "refusal": "the model refused",
    "content_filter": "stopped by a content filter",
    "tool_calls": "tool calls in place of a reply",
    "no_content": "reasoning without a reply",
    "empty": "an empty reply",
    "cut": "the reply is cut off",
}


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a judge answered.

    Attributes:
        text: the reply, unread.
        usage: its tokens; None where the judge does not say.
        model: the model that answered, where the judge says.
        fault: why it is no reply: ``refusal``, ``content_filter``, ``tool_calls``, ``no_content``
            (only reasoning came) or ``empty``, which are failed calls whatever the text says; or
            ``cut``, of which a vote counts only if it blocks. None for a whole reply.
    """

    text: str = field(repr=False)
    usage: Usage | None = None
    model: str | None = None
    fault: Fault | None = None


@runtime_checkable
class Judge(Protocol):
    """Takes a prompt and gives a reply, at once or awaitable.

    ``schema`` is the JSON Schema of the wished reply, for servers that can be held to one; a judge
    may ignore it. A judge that also has a ``name`` is listed under it, one with an ``identity`` (a
    text that names the model and every parameter) can be cached, and one with an ``async aclose``
    is closed when a synchronous run ends. One with a ``check`` that raises ``JudgeError`` when
    it cannot be reached is asked that before a run of the command line. Raise ``JudgeError``
    for a failure worth a retry.
    """

    def ask(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None
    ) -> JudgeReply | str | Awaitable[JudgeReply | str]:
        """Answers a prompt."""


#: A plain function that judges.
JudgeFunction: TypeAlias = "Callable[[str], JudgeReply | str | Awaitable[JudgeReply | str]]"

#: Whatever is accepted as a judge; a text is the name of one.
AnyJudge: TypeAlias = "Judge | JudgeFunction | str"

#: A longer reply is a failed call, unless the judge is built with another limit.
REPLY_BYTES = 1 << 20

#: A count of tokens beyond this is none.
_MOST_TOKENS = 1 << 53

#: The name of a model is cut to so many bytes.
_NAME_BYTES = 256


class FunctionJudge:
    """A function as a judge. A function that is not ``async`` runs in a thread of its own.

    Args:
        function: takes the prompt, gives the reply as text or as ``JudgeReply``.
        name: what it is called in results and, with ``cacheable``, in the cache.
        timeout: the seconds that a call may take. A thread cannot be stopped: it is left to itself.
        cacheable: replies may be cached under the name; give another name when the function
            changes.
        max_reply_bytes: a longer reply is a failure.
    """

    def __init__(
        self,
        function: JudgeFunction,
        *,
        name: str | None = None,
        timeout: float | None = None,
        cacheable: bool = False,
        max_reply_bytes: int = REPLY_BYTES,
    ) -> None:
        if not callable(function):
            raise TypeError("judge: expected an object with ask(prompt), or a function")
        if cacheable and not name:
            raise ValueError("name: a cacheable function needs a name of its own")
        self._function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.identity = f"function:{name}" if cacheable else None
        self._timeout = timeout
        self._most = max_reply_bytes

    async def ask(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None
    ) -> JudgeReply | str:
        """Calls the function."""
        try:
            async with asyncio.timeout(self._timeout):
                called = self._function
                if inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(
                    getattr(called, "__call__", None)  # noqa: B004
                ):
                    found: Any = called(prompt)
                else:
                    found = await in_thread(lambda: called(prompt))
                if inspect.isawaitable(found):
                    found = await found
        except TimeoutError:
            raise JudgeError("timed out", retryable=True) from None
        text = found.text if isinstance(found, JudgeReply) else found
        if isinstance(text, str) and len(text.encode("utf-8", "surrogatepass")) > self._most:
            raise JudgeError(f"the reply is longer than {self._most} bytes")
        return found  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """The name."""
        return f"FunctionJudge({self.name!r})"


async def in_thread(work: Callable[[], Any]) -> Any:
    """Runs a function in a daemon thread, so that one that never ends does not keep the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def tell(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def run() -> None:
        result: Any = None
        failure: BaseException | None = None
        try:
            result = context.run(work)
        except StopIteration as error:  # no future can hold it
            failure = RuntimeError(type(error).__name__)
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the loop has gone
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=run, name="scoregate-judge", daemon=True).start()
    return await done


def judge_name(judge: Judge) -> str:
    """What a judge is called."""
    name = getattr(judge, "name", None)
    return name if isinstance(name, str) and name else type(judge).__name__


async def call_judge(
    judge: Judge, prompt: str, schema: Mapping[str, Any] | None = None
) -> JudgeReply:
    """Asks a judge once.

    Raises:
        JudgeError: the call failed, in whatever way.
    """
    try:
        found: Any
        if inspect.iscoroutinefunction(judge.ask):
            found = judge.ask(prompt, schema=schema)
        else:
            found = await in_thread(lambda: judge.ask(prompt, schema=schema))
        if inspect.isawaitable(found):
            found = await found
    except JudgeError:
        raise
    except Exception as error:
        log.debug("a judge raised", exc_info=True)
        retryable = isinstance(error, ConnectionError | TimeoutError)
        raise JudgeError(_told(error, prompt), retryable=retryable) from None
    if isinstance(found, str):
        found = JudgeReply(found)
    if not isinstance(found, JudgeReply):
        raise JudgeError(f"expected a text, got {type(found).__name__}")
    return sound(found)


def sound(reply: JudgeReply) -> JudgeReply:
    """A reply whose every value is of its type and size, whoever made it.

    Raises:
        JudgeError: its text is none.
    """
    text: Any = reply.text
    if not isinstance(text, str):
        raise JudgeError(f"expected a text, got {type(text).__name__}")
    usage: Any = reply.usage
    if isinstance(usage, Usage):
        counts = (usage.input_tokens, usage.output_tokens)
        usage = Usage(*counts) if all(map(_is_count, counts)) else None
    else:
        usage = None
    model: Any = reply.model
    model = cut(clean(model), _NAME_BYTES) if isinstance(model, str) else None
    fault = reply.fault if reply.fault in FAULTS else None
    if fault is None and not text.strip():
        fault = "empty"
    return JudgeReply(text, usage, model, fault)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


#: A message is cut to so many characters, of which so many in a row may stand in the prompt.
_TOLD, _QUOTED = 120, 15

#: What may be a key.
_KEY = re.compile(r"[\w.~+/=-]{20,}")


def _told(error: Exception, prompt: str) -> str:
    """The type of an error and its message, where that holds no part of the prompt.

    Whatever may be a key in it is left out.
    """
    name = type(error).__name__
    try:
        message = " ".join(str(error).split())
    except Exception:
        return name
    message = message if len(message) <= _TOLD else message[:_TOLD] + "…"
    lines = (" ".join(line.split()) for line in prompt.splitlines())
    if not message or any(len(line) > 2 and line in message for line in lines):
        return name
    flat = " ".join(prompt.split())
    if any(message[at : at + _QUOTED + 1] in flat for at in range(len(message) - _QUOTED)):
        return name
    return f"{name}: {_KEY.sub('…', message)}"


async def close_judges(judges: Sequence[Judge]) -> None:
    """Closes what the judges hold open on this event loop."""
    for judge in judges:
        close = getattr(judge, "aclose", None)
        if close is not None:
            with suppress(Exception):
                await close()
