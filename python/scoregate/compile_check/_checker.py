"""Checks code by compilers: many pieces at once, equal ones once."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from .._errors import OptionError
from .._limits import COMPILE_TIMEOUT
from . import _registry as registry
from . import _tools as tools
from ._compiled import Compiled
from ._process import MEMORY_BYTES, PROCESSES, Ended, ProcessError, Stop, UnsaidError, Worker, run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future

    from ._cache import CompileCache
    from ._process import Command
    from ._registry import Language

#: The seconds that a compiler may take.
TIMEOUT = COMPILE_TIMEOUT

#: Of the diagnostics so many lines are told, each cut to so many characters.
_LINES = 5
_WIDTH = 300

#: So many results are remembered.
_REMEMBERED = 4096


def _unavailable(reason: str) -> Compiled:
    return Compiled(False, f"compiler unavailable: {reason}", lasting=False)


def _timed_out(timeout: float) -> Compiled:
    return Compiled(False, f"compiler timed out after {timeout * 1000:.0f}ms", lasting=False)


def _lines(said: bytes, folder: str) -> str:
    """The first lines of the diagnostics, which name the file and not where it was."""
    text = said.decode("utf-8", "replace")
    if folder:
        real = os.path.realpath(folder)
        for place in dict.fromkeys(
            (f"file://{real}/", f"file://{folder}/", f"{real}/", f"{folder}/")
        ):
            text = text.replace(place, "")
    text = _COLOURS.sub("", text)
    found = []
    for line in text.strip("\n").split("\n")[:_LINES]:
        line = line.rstrip()
        found.append(line if len(line) <= _WIDTH else line[:_WIDTH] + "…")
    return "\n".join(found).rstrip()


_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _judged(ended: Ended, timeout: float) -> Compiled:
    """What the end of a run says of the code."""
    if ended.unavailable is not None:
        return _unavailable(ended.unavailable)
    if ended.why == "timeout":
        return _timed_out(timeout)
    if ended.why == "memory":
        detail = f"compiler took more than {MEMORY_BYTES >> 20} MiB of memory"
        return Compiled(False, detail, lasting=False)
    if ended.why == "processes":
        detail = f"compiler started more than {PROCESSES} processes"
        return Compiled(False, detail, lasting=False)
    if ended.why is not None:
        return _unavailable(f"the run was {ended.why}")
    code = ended.code if ended.code is not None else 1
    if code == 0:
        return Compiled(True)
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return Compiled(False, f"compiler crashed ({name})", lasting=False)
    lines = _lines(ended.output, ended.folder)
    return Compiled(False, lines or f"compiler ended with exit code {code}")


def check_once(
    language: Language,
    code: bytes,
    timeout: float,
    *,
    stop: Stop | None = None,
    isolate: bool = True,
) -> Compiled:
    """Checks code by the commands of a language, in processes of their own."""
    first = None
    try:
        for command in language.commands(code):
            found = _judged(run(command, code, timeout, stop=stop, isolate=isolate), timeout)
            if found.accepted:
                return found
            first = first or found
            if not found.lasting:
                break
    except (tools.UnavailableError, ProcessError) as error:
        return _unavailable(str(error))
    return first or _unavailable("the language has no command")


class _Workers:
    """The idle workers of this process, by command. They end with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Command, list[Worker]] = {}
        self._owner = os.getpid()

    def take(self, command: Command) -> Worker:
        """An idle worker, or a new one."""
        with self._lock:
            if self._owner != os.getpid():
                # A parent's, whose ends are closed here.
                self._idle, self._owner = {}, os.getpid()
            idle = self._idle.get(command)
            if idle:
                return idle.pop()
        return Worker(command)

    def give(self, command: Command, worker: Worker) -> None:
        """Takes a worker back."""
        if worker.checks >= registry.WORKER_CHECKS:
            worker.close()
            return
        with self._lock:
            self._idle.setdefault(command, []).append(worker)

    def close(self) -> None:
        """Ends the idle workers."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for workers in idle.values():
            for worker in workers:
                worker.close()


_WORKERS = _Workers()


def check_pooled(
    language: Language, code: bytes, timeout: float, *, stop: Stop | None = None
) -> Compiled:
    """Checks code by a worker of the language, where it has one.

    What a worker cannot say, since it crashed or has no compiler, the commands are asked for.
    """
    if language.worker is None:
        return check_once(language, code, timeout, stop=stop)
    try:
        command = language.worker()
        worker = _WORKERS.take(command)
    except (tools.UnavailableError, ProcessError, OSError):
        return check_once(language, code, timeout, stop=stop)
    good = False
    try:
        said = worker.ask(language.file, code, timeout, stop=stop)
        good = said is not None
    except UnsaidError:
        good = True
        return check_once(language, code, timeout, stop=stop)
    except ProcessError:
        return check_once(language, code, timeout, stop=stop)
    finally:
        if good:
            _WORKERS.give(command, worker)
        else:
            worker.close()
    if said is None:
        return _timed_out(timeout)
    return Compiled(False, _lines(said, "")) if said else Compiled(True)


def _key(language: Language, code: str) -> tuple[Language, bytes]:
    return language, hashlib.sha256(code.encode("utf-8", "replace")).digest()


class _Remembered:
    """What compilers said last in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[Language, bytes], Compiled] = OrderedDict()

    def get(self, key: tuple[Language, bytes]) -> Compiled | None:
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: tuple[Language, bytes], found: Compiled) -> None:
        with self._lock:
            self._found[key] = found
            self._found.move_to_end(key)
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._found.clear()


_SEEN = _Remembered()


def close() -> None:
    """Ends the processes that wait for further code, and forgets what compilers said.

    Nothing need call it: the processes end with this one.
    """
    _WORKERS.close()
    _SEEN.clear()


def check_timeout(timeout: float) -> None:
    """Refuses a time that is none.

    Raises:
        TypeError: it is no number.
        OptionError: it is not more than 0.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        name = type(timeout).__name__
        raise TypeError(f"compile_timeout: expected a number of seconds, got {name}")
    if not 0 < timeout < float("inf"):
        raise OptionError("compile_timeout", "must be more than 0")


class Checker:
    """Checks pieces of code, several at once; equal ones are compiled once.

    Args:
        timeout: the seconds that a compiler may take for one piece.
        workers: how many are checked at once; by default one a core.
        cache: keeps what compilers say, over runs.

    Raises:
        ValueError: the time is no positive number.

    Examples:
        >>> from scoregate.compile_check import Checker
        >>> with Checker() as checker:
        ...     checker.result("json", "[1, 2").accepted
        False
    """

    def __init__(
        self,
        *,
        timeout: float = TIMEOUT,
        workers: int | None = None,
        cache: CompileCache | None = None,
    ) -> None:
        check_timeout(timeout)
        self._timeout = timeout
        #: How many pieces are checked at once.
        self.workers = workers or _cores()
        self._cache = cache
        self._pool: ThreadPoolExecutor | None = None
        self._running: dict[tuple[Language, bytes], Future[Compiled]] = {}
        self._stop = Stop()

    def __enter__(self) -> Self:
        """The checker."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Waits for what runs; after an exception it is ended."""
        self.close(cancel=kind is not None)

    def begin(self, pieces: Iterable[tuple[str, str]]) -> None:
        """Begins to check pieces of code, each a language and its code."""
        for name, code in pieces:
            language = registry.find(name)
            if language is None:
                continue
            key = _key(language, code)
            if key in self._running or _SEEN.get(key) is not None:
                continue
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.workers, "scoregate-compile")
            self._running[key] = self._pool.submit(self._work, key, code)

    def result(self, language: str, code: str) -> Compiled:
        """What the compiler of a language says of code; waits for it."""
        found = registry.find(language)
        if found is None:
            return _unavailable(f"no language '{language}' is registered")
        key = _key(found, code)
        future = self._running.get(key)
        if future is not None:
            return future.result()
        return _SEEN.get(key) or self._work(key, code)

    def forget(self) -> None:
        """Forgets what has been checked: what was begun before is not asked for again."""
        self._running = {key: f for key, f in self._running.items() if not f.done()}

    def _work(self, key: tuple[Language, bytes], code: str) -> Compiled:
        if self._stop.stopped:
            return _unavailable("the run was cancelled")
        language, digest = key
        found = self._cache.get(language, digest) if self._cache is not None else None
        if found is None:
            raw = code.encode("utf-8", "replace")
            found = check_pooled(language, raw, self._timeout, stop=self._stop)
            if self._cache is not None and found.lasting:
                self._cache.put(language, digest, found)
        if found.lasting:
            _SEEN.put(key, found)
        return found

    def close(self, *, cancel: bool = False) -> None:
        """Waits for the checks that run; with ``cancel`` they are ended and none is begun."""
        if cancel:
            self._stop.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=cancel)
            self._pool = None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
