"""A judge that is a command: the prompt on its standard input, the reply on its standard output."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._errors import JudgeError
from . import _watchdog as watchdog
from ._protocol import REPLY_BYTES, JudgeReply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

log = logging.getLogger("scoregate.judge")

_CHUNK = 1 << 16

#: A killed command is gone at once; one that the system holds on to is not waited for.
_REAP_SECONDS = 5.0
_KEPT_ERRORS = 4096


class CommandJudge:
    """Runs an argument list, without a shell, once a prompt.

    The command reads the prompt (UTF-8) from standard input and writes the reply to standard
    output. It runs in a process group of its own, which is killed when the time is up, the output
    too long, or the run cancelled, and even when this process is killed. Another exit code than 0
    is a failure.

    Args:
        argv: the command and its arguments.
        timeout: the seconds that a call may take.
        max_reply_bytes: a longer reply is a failure.
        env: the environment; by default this process's.
        cwd: the folder; by default this process's.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        timeout: float = 60.0,
        max_reply_bytes: int = REPLY_BYTES,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(argv, str | bytes):
            raise TypeError("argv: expected a list of arguments, got one text")
        self._argv = [os.fspath(argument) for argument in argv]
        if not self._argv:
            raise ValueError("argv: must name a command")
        self._timeout = timeout
        self._most = max_reply_bytes
        self._env = None if env is None else dict(env)
        self._cwd = cwd

    @property
    def name(self) -> str:
        """``cmd:`` and the name of the program; arguments may hold secrets."""
        return f"cmd:{os.path.basename(self._argv[0])}"

    @property
    def identity(self) -> str:
        """The argument list."""
        return "cmd:" + json.dumps(self._argv)

    def check(self) -> None:
        """Looks for the command, and does not run it.

        Raises:
            JudgeError: there is none.
        """
        command = self._argv[0]
        path = None if self._env is None else self._env.get("PATH", os.defpath)
        if os.path.dirname(command):
            command = os.path.join(self._cwd or "", command)
        if shutil.which(command, path=path) is None:
            raise JudgeError(f"{self.name}: there is no such command")

    async def ask(self, prompt: str, *, schema: Mapping[str, Any] | None = None) -> JudgeReply:
        """Runs the command.

        Raises:
            JudgeError: it cannot be started, fails, takes too long or writes too much.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or type(error).__name__
            raise JudgeError(f"the command cannot be started: {words}") from None
        watchdog.watch(process.pid)
        finished = False
        reply = asyncio.ensure_future(self._reply(process))
        complaints = asyncio.ensure_future(_read_errors(process))
        feeding = asyncio.ensure_future(_feed(process, prompt))
        try:
            async with asyncio.timeout(self._timeout):
                text, errors, _ = await asyncio.gather(reply, complaints, feeding)
                code = await process.wait()
            finished = True
        except TimeoutError:
            message = f"the command timed out after {self._timeout:g} s"
            raise JudgeError(message, retryable=True) from None
        finally:
            for task in (reply, complaints, feeding):
                task.cancel()
            await asyncio.gather(reply, complaints, feeding, return_exceptions=True)
            await _end(process, kill=not finished)
            watchdog.release(process.pid)
        if code != 0:
            log.debug("a judge command failed: %r", errors)
            raise JudgeError(f"the command ended with exit code {code}", retryable=True)
        return JudgeReply(text.decode("utf-8", "replace"))

    async def _reply(self, process: asyncio.subprocess.Process) -> bytes:
        stream = process.stdout
        parts: list[bytes] = []
        size = 0
        while stream is not None and (part := await stream.read(_CHUNK)):
            parts.append(part)
            size += len(part)
            if size > self._most:
                raise JudgeError(f"the reply is longer than {self._most} bytes")
        return b"".join(parts)

    def __repr__(self) -> str:
        """The program, without its arguments."""
        return f"CommandJudge({self.name!r})"


async def _feed(process: asyncio.subprocess.Process, prompt: str) -> None:
    stream = process.stdin
    if stream is None:
        return
    # A command need not read what it is given.
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(prompt.encode("utf-8", "replace"))
        await stream.drain()
    # Closing is not waited for: a wait that is cancelled would spoil the stream's own bookkeeping.
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.close()


async def _read_errors(process: asyncio.subprocess.Process) -> bytes:
    kept = b""
    stream = process.stderr
    while stream is not None and (part := await stream.read(_CHUNK)):
        kept = (kept + part)[:_KEPT_ERRORS]
    return kept


async def _end(process: asyncio.subprocess.Process, *, kill: bool) -> None:
    """Kills the process group, whose members may outlive the command, and reaps the command."""
    if kill:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            elif process.returncode is None:
                process.kill()
    transport = getattr(process, "_transport", None)
    if kill:
        # The pipes are closed before the command is waited for: asyncio waits for their ends too,
        # and a pipe whose reader has stopped reading never comes to its end.
        for number in range(3):
            pipe = transport.get_pipe_transport(number) if transport is not None else None
            if pipe is not None:
                pipe.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_SECONDS):
                await process.wait()
    if transport is not None:
        transport.close()
