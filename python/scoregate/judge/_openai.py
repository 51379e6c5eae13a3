"""A judge behind the OpenAI chat-completions API, or any server that speaks it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
import zlib
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from .._errors import JudgeError
from .._public import publish
from ._completion import read_completion
from ._protocol import REPLY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import openai as sdk

    from ._protocol import JudgeReply

#: Statuses that tell of a passing state.
_PASSING = frozenset({408, 409, 425, 429})

#: Statuses after which no call of the run can succeed.
_FINAL = frozenset({401, 403})

#: Statuses with which a server refuses a response format that it does not know. It has to name the
#: format, since other faults of a request have the same statuses.
_REFUSING = frozenset({400, 404, 415, 422, 501})
_FORMAT = re.compile(rb"response_?format|json_?schema|structured.?output", re.IGNORECASE)

_CODE = re.compile(r"[a-z_]{3,40}")

#: So much of the body of an error is looked at.
_ERROR_BYTES = 1 << 14

#: The seconds that a server may take to accept a connection before the run.
_REACH_SECONDS = 5.0


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
        max_reply_bytes: a longer response, decompressed, is a failure.

    Raises:
        ImportError: the openai package is not installed.
        ValueError: the server is OpenAI's own and there is no key, the key can be in no header, or
            the address of the server is no URL.
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
        max_reply_bytes: int = REPLY_BYTES,
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
        self._host, self._port = _address(self._base_url)
        key = os.environ.get(api_key_env, "")
        if own is None and not key:
            raise ValueError(f"{api_key_env} is not set; it must hold the key of the server")
        if not (key.isascii() and key.isprintable()):
            raise ValueError(
                f"{api_key_env}: holds a character that no key has, such as a line feed"
            )

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
            refused = refusal.status in _REFUSING and _FORMAT.search(refusal.body)
            if self._format != "auto" or not refused:
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
        try:
            # The body is read here: bounded, and not every server's is what the SDK expects.
            async with completions.with_streaming_response.create(
                model=self._model, messages=messages, extra_body=body
            ) as response:
                data = await _body(response.http_response, self._most)
        except sdk.APITimeoutError:
            raise JudgeError("timed out", retryable=True) from None
        except sdk.APIConnectionError as error:
            if isinstance(error.__cause__, JudgeError):  # of _refuse
                raise error.__cause__ from None
            raise JudgeError("the connection failed", retryable=True) from None
        except (JudgeError, TimeoutError):
            raise
        except Exception as error:
            name = type(error).__name__
            raise JudgeError(f"the connection was lost ({name})", retryable=True) from None
        if len(data) > self._most:
            raise JudgeError(f"the response is longer than {self._most} bytes")
        return read_completion(data)

    def _client(self) -> sdk.AsyncOpenAI:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            sdk = _sdk()
            client = sdk.AsyncOpenAI(
                api_key=os.environ.get(self._key_env) or "none",
                base_url=self._base_url,
                max_retries=0,
                timeout=self._timeout,
                # Only what _body can bound.
                default_headers={"Accept-Encoding": "gzip, deflate"},
                http_client=sdk.DefaultAsyncHttpxClient(
                    # A redirect would take the prompt to another host, or make a GET of it.
                    follow_redirects=False,
                    # Before the SDK, which reads the body of an error whatever its size.
                    event_hooks={"response": [_refuse]},
                ),
            )
            self._clients[loop] = client
        return client

    async def check(self) -> None:
        """Opens a connection and closes it: no request is made.

        Behind a proxy nothing is tried.

        Raises:
            JudgeError: the server cannot be reached.
        """
        if proxy_bypass(self._host) or not {"all", urlsplit(self._base_url).scheme} & set(
            getproxies()
        ):
            try:
                async with asyncio.timeout(min(_REACH_SECONDS, self._timeout)):
                    _, writer = await asyncio.open_connection(self._host, self._port)
                writer.close()
            except (OSError, TimeoutError, UnicodeError) as error:
                words = getattr(error, "strerror", None) or type(error).__name__
                place = f"{self._host}:{self._port}"
                raise JudgeError(f"{place} cannot be reached: {words}") from None

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


def _address(url: str) -> tuple[str, int]:
    """Host and port of a server.

    Raises:
        ValueError: the address is no URL of one.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or not url.isprintable():
        raise ValueError("base_url: must be a URL such as http://localhost:8000/v1")
    return host, port or (443 if parts.scheme == "https" else 80)


class _StatusError(JudgeError):
    """An HTTP status that is no success."""

    def __init__(
        self, message: str, status: int, *, wait: float | None, final: bool, body: bytes
    ) -> None:
        passing = (status in _PASSING or status >= 500) and not final
        super().__init__(message, retryable=passing, retry_after=wait, final=final)
        self.status = status
        self.body = body


async def _refuse(response: Any) -> None:
    """Raises for a response that is no success, of whose body only the start is read."""
    status = response.status_code
    if response.is_success:
        return
    try:
        body = await _body(response, _ERROR_BYTES)
    except Exception:
        body = b""
    message = f"HTTP {status}"
    # The server's own words may quote the prompt or the key; a code is a plain word.
    code = _code(body)
    if code is not None:
        message += f" ({code})"
    if response.is_redirect:
        message += " (redirects are not followed)"
    final = status in _FINAL or code == "insufficient_quota"
    wait = None if final else retry_after(response.headers)
    raise _StatusError(message, status, wait=wait, final=final, body=body[:_ERROR_BYTES])


def _code(body: bytes) -> str | None:
    try:
        code = json.loads(body)["error"]["code"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


async def _body(response: Any, most: int) -> bytes:
    """The start of a body, decompressed: all of it, or more than so many bytes.

    However small it was made for its way, no more than that is ever held.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("gzip", "x-gzip", "deflate"):
        # 32: gzip or zlib, as the header says.
        inflate: Any = zlib.decompressobj(wbits=zlib.MAX_WBITS + 32)
    elif encoding == "identity":
        inflate = None
    else:
        raise JudgeError("the response has an encoding that was not asked for")
    parts: list[bytes] = []
    left = most + 1
    async for part in response.aiter_raw():
        if inflate is not None:
            try:
                part = inflate.decompress(part, left)
            except zlib.error:
                raise JudgeError("the response is no chat completion", retryable=True) from None
        parts.append(part)
        left -= len(part)
        if left <= 0:
            break
    return b"".join(parts)


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


publish("scoregate.judge", ("OpenAIJudge",), globals())
