"""A judge behind the OpenAI chat-completions API, or any server that speaks it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ..errors import JudgeError
from .protocol import JudgeReply, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    import openai as sdk

#: Statuses that tell of a passing state.
_PASSING = frozenset({408, 409, 425, 429})

#: Statuses with which a server refuses a response format that it does not know.
_REFUSING = frozenset({400, 404, 415, 422, 501})

_CODE = re.compile(r"[a-z_]{3,40}")


def _sdk() -> Any:
    """The package of the extra ``judge``, which only a judge that is built needs.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import openai
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "openai":
            raise
        raise ImportError("OpenAIJudge needs the openai package: pip install openai") from None
    return openai


class OpenAIJudge:
    """Asks a model over the official ``openai`` SDK (extra ``judge``).

    Args:
        model: the model's name.
        base_url: the server; by default ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key_env: the environment variable that holds the key. It must be set when a judge for
            OpenAI's own server is built; the key is read when a connection is opened, and no
            attribute keeps it. A server of your own may need none.
        params: further fields of the request, such as ``{"temperature": 0, "seed": 1}``.
        system: a system message before the prompt.
        timeout: the seconds that a call may take, from its start to the last byte.
        response_format: ``"auto"`` asks for JSON by a schema, and goes on without where the server
            refuses; ``"json_schema"`` never goes without, ``"none"`` never asks.
        max_reply_bytes: a longer response is a failure.

    Raises:
        ImportError: the openai package is not installed.
        ValueError: the server is OpenAI's own and there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        params: Mapping[str, Any] | None = None,
        system: str | None = None,
        timeout: float = 60.0,
        response_format: Literal["auto", "json_schema", "none"] = "auto",
        max_reply_bytes: int = 32 << 20,
    ) -> None:
        _sdk()
        if response_format not in ("auto", "json_schema", "none"):
            raise ValueError("response_format: must be one of auto|json_schema|none")
        self._model = model
        own = base_url or os.environ.get("OPENAI_BASE_URL")
        self._base_url = own or "https://api.openai.com/v1"
        self._key_env = api_key_env
        self._params = dict(params or {})
        self._system = system
        self._timeout = timeout
        self._format = response_format
        self._most = max_reply_bytes
        self._refused = False
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, sdk.AsyncOpenAI]
        self._clients = WeakKeyDictionary()
        if own is None and not os.environ.get(api_key_env):
            raise ValueError(f"{api_key_env} is not set; it must hold the key of the server")

    @property
    def name(self) -> str:
        """``openai:`` and the model."""
        return f"openai:{self._model}"

    @property
    def identity(self) -> str:
        """The server, the model and every parameter."""
        return json.dumps(
            [
                "openai",
                self._base_url.rstrip("/"),
                self._model,
                self._params,
                self._system,
                self._format,
            ],
            sort_keys=True,
            default=repr,
        )

    async def ask(self, prompt: str, *, schema: Mapping[str, Any] | None = None) -> JudgeReply:
        """Makes one call, without retries; a refused response format costs a second one, once.

        Raises:
            JudgeError: the call failed.
        """
        try:
            async with asyncio.timeout(self._timeout):
                return await self._ask(prompt, schema)
        except TimeoutError:
            raise JudgeError(f"timed out after {self._timeout:g} s", retryable=True) from None

    async def _ask(self, prompt: str, schema: Mapping[str, Any] | None) -> JudgeReply:
        body: dict[str, Any] = {**self._params}
        if schema is None or self._format == "none" or self._refused:
            return await self._send(prompt, body)
        wished = {"name": "reply", "strict": True, "schema": dict(schema)}
        try:
            form = {"type": "json_schema", "json_schema": wished}
            return await self._send(prompt, {**body, "response_format": form})
        except _StatusError as refusal:
            if self._format != "auto" or refusal.status not in _REFUSING:
                raise
        reply = await self._send(prompt, body)
        # Only now is it sure that the format was what the server minded.
        self._refused = True
        return reply

    async def _send(self, prompt: str, body: dict[str, Any]) -> JudgeReply:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        if self._system is not None:
            messages.insert(0, {"role": "system", "content": self._system})
        sdk = _sdk()
        completions = self._client().chat.completions
        parts: list[bytes] = []
        size = 0
        try:
            # The body is read here: bounded, and not every server's is what the SDK expects.
            async with completions.with_streaming_response.create(
                model=self._model, messages=messages, extra_body=body
            ) as response:
                async for part in response.iter_bytes():
                    size += len(part)
                    if size > self._most:
                        raise JudgeError(f"the response is longer than {self._most} bytes")
                    parts.append(part)
        except sdk.APIStatusError as error:
            raise _status_error(error) from None
        except sdk.APITimeoutError:
            raise JudgeError("timed out", retryable=True) from None
        except sdk.APIConnectionError:
            raise JudgeError("the connection failed", retryable=True) from None
        except (JudgeError, TimeoutError):
            raise
        except Exception as error:
            name = type(error).__name__
            raise JudgeError(f"the connection was lost ({name})", retryable=True) from None
        return _reply(b"".join(parts))

    def _client(self) -> sdk.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = _sdk().AsyncOpenAI(
                api_key=os.environ.get(self._key_env) or "none",
                base_url=self._base_url,
                max_retries=0,
                timeout=self._timeout,
            )
            self._clients[loop] = client
        return client

    async def aclose(self) -> None:
        """Closes the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def __repr__(self) -> str:
        """The model and the server's host."""
        return f"OpenAIJudge({self._model!r}, host={urlsplit(self._base_url).hostname!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Everything but open connections."""
        return {key: value for key, value in self.__dict__.items() if key != "_clients"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Without connections."""
        self.__dict__.update(state)
        self._clients = WeakKeyDictionary()


class _StatusError(JudgeError):
    """An HTTP status that is no success."""

    def __init__(self, message: str, status: int, *, wait: float | None) -> None:
        passing = status in _PASSING or status >= 500
        super().__init__(message, retryable=passing, retry_after=wait)
        self.status = status


def _status_error(error: sdk.APIStatusError) -> _StatusError:
    message = f"HTTP {error.status_code}"
    # The server's own words may quote the prompt or the key; a code is a plain word.
    code = error.code
    if isinstance(code, str) and _CODE.fullmatch(code):
        message += f" ({code})"
    if code == "insufficient_quota":
        found = _StatusError(message, error.status_code, wait=None)
        found.retryable = False
        return found
    return _StatusError(message, error.status_code, wait=retry_after(error.response.headers))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait that response headers ask for."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) / scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if seconds == seconds and seconds != float("inf"):
            return max(0.0, seconds)
    return None


def _reply(data: bytes) -> JudgeReply:
    try:
        found = json.loads(data)
        message = found["choices"][0]["message"]
        text = message.get("content")
        if text is None:
            text = message.get("refusal") or ""
        if isinstance(text, list):  # some servers answer in parts
            text = "".join(part.get("text", "") for part in text)
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        message = "the response is no chat completion"
        raise JudgeError(message, retryable=True) from None
    model = found.get("model")
    return JudgeReply(text, _usage(found.get("usage")), model if isinstance(model, str) else None)


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, dict):
        return None
    counts = [found.get("prompt_tokens"), found.get("completion_tokens")]
    numbers = [count if isinstance(count, int) and count >= 0 else 0 for count in counts]
    return Usage(*numbers) if any(isinstance(count, int) for count in counts) else None
