"""Starts compilers through the keeper, which contains them and cleans up after them."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOSTS = Path(__file__).parent / "_hosts"

#: So much of what a compiler writes is kept.
OUTPUT_BYTES = 64 << 10

#: So much may be written to one file, and held in memory by all processes of a run.
FILE_BYTES = 64 << 20
MEMORY_BYTES = 2 << 30
ADDRESS_BYTES = 16 << 30

#: So many processes may a run have.
PROCESSES = 64

#: A keeper that says nothing for so long after the end of a run is gone.
_GRACE = 10.0


class ProcessError(Exception):
    """A process that cannot be started or has ended; the message says why."""


class UnsaidError(Exception):
    """A worker that leaves a piece of code to the commands."""


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        code: the exit code, negative for a signal; None where nothing was run.
        why: ``timeout``, ``memory``, ``processes`` or ``cancelled`` where it was ended.
        unavailable: why nothing was run.
        output: the beginning of what was written to standard error.
        folder: where it was run.
        isolation: what of the system it could not reach.
    """

    code: int | None
    why: str | None
    unavailable: str | None
    output: bytes
    folder: str
    isolation: tuple[str, ...]


class _Zygote:
    """The process that forks the keepers: one of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._socket: socket.socket | None = None

    def send(self, files: list[int]) -> None:
        """Hands the descriptors of a run over."""
        if not hasattr(socket, "send_fds"):
            raise ProcessError("processes cannot be contained on this system")
        with self._lock:
            if self._owner == os.getpid() and self._socket is not None:
                with suppress(OSError):
                    socket.send_fds(self._socket, [b"x"], files)
                    return
            self._start()
            assert self._socket is not None  # noqa: S101
            socket.send_fds(self._socket, [b"x"], files)

    def _start(self) -> None:
        self.forget()
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", str(HOSTS / "keeper.py")],
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath, "LANG": "C.UTF-8"},
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ProcessError(error.strerror or "the keeper cannot be started") from None
        finally:
            its.close()
        # It ends after this process, so that nobody here can wait for it.
        process.returncode = 0
        self._socket, self._owner = ours, os.getpid()

    def forget(self) -> None:
        """Closes the connection; a child has none."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def forked(self) -> None:
        """A child starts its own."""
        self._lock = threading.Lock()
        self.forget()


_ZYGOTE = _Zygote()

#: The control sockets that are open. A child closes them, since a run ends when its socket does.
_OPEN: set[socket.socket] = set()


def _forked() -> None:
    _ZYGOTE.forked()
    for control in list(_OPEN):
        control.close()
    _OPEN.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Stop:
    """Ends the runs of one batch from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: set[socket.socket] = set()
        self.stopped = False

    def add(self, control: socket.socket) -> None:
        """Names a run; once all are stopped it is ended at once."""
        with self._lock:
            self._runs.add(control)
            stopped = self.stopped
        if stopped:
            _hang_up(control)

    def discard(self, control: socket.socket) -> None:
        """Takes a run back."""
        with self._lock:
            self._runs.discard(control)

    def stop(self) -> None:
        """Ends the runs."""
        with self._lock:
            self.stopped = True
            for control in self._runs:
                _hang_up(control)


def _hang_up(control: socket.socket) -> None:
    with suppress(OSError):
        control.shutdown(socket.SHUT_WR)


@dataclass(frozen=True)
class Command:
    """What is run.

    Attributes:
        argv: the arguments; the first is an absolute path. ``{folder}`` stands for the folder.
        file: the name of the file that holds the code, in the folder.
        reads: further files and folders that the command may read.
        env: further variables.
    """

    argv: tuple[str, ...]
    file: str | None
    reads: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class Kept:
    """A run: its control socket, and what its keeper said."""

    def __init__(
        self,
        command: Command,
        content: bytes,
        files: list[int],
        timeout: float | None,
        *,
        isolate: bool = True,
    ) -> None:
        ours, its = socket.socketpair()
        self.control = ours
        self.folder = ""
        self.said: dict[str, Any] = {}
        self._held = b""
        try:
            _ZYGOTE.send([its.fileno(), *files])
        except (OSError, ProcessError) as error:
            ours.close()
            raise ProcessError(getattr(error, "strerror", None) or str(error)) from None
        finally:
            its.close()
        _OPEN.add(ours)
        folder = os.path.dirname(command.argv[0])
        path = os.pathsep.join(dict.fromkeys([folder, "/usr/local/bin", "/usr/bin", "/bin"]))
        temp = tempfile.gettempdir()
        request = {
            "argv": list(command.argv),
            "file": command.file,
            "reads": [folder, *command.reads],
            "env": {"PATH": path, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"} | dict(command.env),
            "temp": temp,
            "timeout": timeout,
            "cpu": None if timeout is None else int(timeout) + 2,
            "file_bytes": FILE_BYTES,
            "memory_bytes": MEMORY_BYTES,
            "address_bytes": ADDRESS_BYTES,
            "processes": PROCESSES,
            "isolate": isolate,
        }
        head = json.dumps(request).encode()
        with suppress(OSError):  # a keeper that has gone is seen when it is read from
            ours.sendall(struct.pack(">Q", len(head)) + head + struct.pack(">Q", len(content)))
            ours.sendall(content)

    def hear(self) -> bool:
        """Takes what the keeper says; False once it has ended."""
        try:
            part = self.control.recv(1 << 16)
        except OSError:
            part = b""
        if not part:
            return False
        self._held += part
        while len(self._held) >= 8:
            (size,) = struct.unpack(">Q", self._held[:8])
            if len(self._held) < 8 + size:
                break
            message = json.loads(self._held[8 : 8 + size])
            self._held = self._held[8 + size :]
            self.folder = message.get("folder", self.folder)
            self.said |= message
        return True

    def end(self) -> None:
        """Ends the run where it has not ended, and waits until nothing is left of it."""
        _hang_up(self.control)
        deadline = time.monotonic() + _GRACE
        with suppress(OSError, ValueError):
            while (left := deadline - time.monotonic()) > 0:
                if select.select([self.control], [], [], left)[0] and not self.hear():
                    break
        _OPEN.discard(self.control)
        self.control.close()
        if self.folder and "isolation" not in self.said:
            # The keeper was killed before it could.
            shutil.rmtree(self.folder, ignore_errors=True)


def run(
    command: Command,
    code: bytes,
    timeout: float,
    *,
    stop: Stop | None = None,
    isolate: bool = True,
) -> Ended:
    """Runs a command on code, in a folder of its own.

    Args:
        command: what is run.
        code: what its file holds.
        timeout: the seconds that it may take.
        stop: ends it from another thread.
        isolate: whether namespaces and file rules are used where the system has them.

    Raises:
        ProcessError: it cannot be run at all.
    """
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        reading, writing = os.pipe()
    except OSError as error:
        raise ProcessError(error.strerror or "no pipe") from None
    kept = None
    try:
        kept = Kept(command, code, [nothing, nothing, writing], timeout, isolate=isolate)
        os.close(writing)
        writing = -1
        if stop is not None:
            stop.add(kept.control)
        output = _read(kept, reading, timeout)
    finally:
        for number in (nothing, reading, writing):
            if number >= 0:
                os.close(number)
        if kept is not None:
            if stop is not None:
                stop.discard(kept.control)
            kept.end()
    said = kept.said
    unavailable = said.get("unavailable")
    if "isolation" not in said:
        unavailable = "the keeper of the process was killed"
    return Ended(
        code=said.get("code"),
        why=said.get("why"),
        unavailable=unavailable,
        output=output,
        folder=kept.folder,
        isolation=tuple(said.get("isolation", ())),
    )


def _read(kept: Kept, reading: int, timeout: float) -> bytes:
    """The beginning of the output; the rest is read and dropped."""
    output = b""
    deadline = time.monotonic() + timeout + _GRACE
    watched: list[Any] = [kept.control, reading]
    while kept.control in watched and (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select(watched, [], [], left)
        if reading in ready:
            part = os.read(reading, 1 << 16)
            output += part[: OUTPUT_BYTES - len(output)]
            if not part:
                watched.remove(reading)
        # What was written before the end is read before it.
        elif kept.control in ready and not kept.hear():
            watched.remove(kept.control)
    return output


class Worker:
    """A process that answers one piece of code after the other."""

    def __init__(self, command: Command, *, isolate: bool = True) -> None:
        nothing = os.open(os.devnull, os.O_RDWR)
        its_input, self._input = os.pipe()
        self._output, its_output = os.pipe()
        self._held = bytearray()
        self.checks = 0
        try:
            self._kept = Kept(command, b"", [its_input, its_output, nothing], None, isolate=isolate)
        except ProcessError:
            os.close(self._input)
            os.close(self._output)
            raise
        finally:
            for number in (nothing, its_input, its_output):
                os.close(number)
        os.set_blocking(self._input, False)

    def ask(
        self, name: str, code: bytes, timeout: float, *, stop: Stop | None = None
    ) -> bytes | None:
        """What is wrong with code; None where the time is up.

        Raises:
            ProcessError: the process has ended.
            UnsaidError: it cannot say.
        """
        self.checks += 1
        if stop is None:
            return self._ask(name, code, timeout)
        stop.add(self._kept.control)
        try:
            return self._ask(name, code, timeout)
        finally:
            stop.discard(self._kept.control)

    def _ask(self, name: str, code: bytes, timeout: float) -> bytes | None:
        self._deadline = time.monotonic() + timeout
        frame = memoryview(b"%d %s\n" % (len(code), name.encode()) + code)
        while frame:
            ready = select.select([self._kept.control], [self._input], [], self._left())
            if ready[0]:
                self._hear()
            elif not ready[1]:
                return None
            else:
                with suppress(BlockingIOError):
                    try:
                        frame = frame[os.write(self._input, frame) :]
                    except BrokenPipeError:
                        raise ProcessError("ended") from None
        while (end := self._held.find(b"\n")) < 0:
            if not self._more():
                return None
        size = int(self._held[:end])
        if size < 0:
            del self._held[: end + 1]
            raise UnsaidError
        while len(self._held) < end + 1 + size:
            if not self._more():
                return None
        answer = bytes(self._held[end + 1 : end + 1 + size])
        del self._held[: end + 1 + size]
        return answer

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _more(self) -> bool:
        """Takes more of the answer; False when the time is up."""
        watched: list[Any] = [self._output, self._kept.control]
        ready, _, _ = select.select(watched, [], [], self._left())
        if self._output in ready:
            part = os.read(self._output, 1 << 16)
            if not part:
                raise ProcessError("ended")
            self._held += part
        elif ready:
            self._hear()
        return bool(ready) and self._left() > 0

    def _hear(self) -> None:
        if not self._kept.hear() or "code" in self._kept.said:
            raise ProcessError("ended")

    def close(self) -> None:
        """Ends the process, and waits for it."""
        for number in (self._input, self._output):
            if number >= 0:
                os.close(number)
        self._input = self._output = -1
        self._kept.end()
