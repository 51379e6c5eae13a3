"""What compilers said, kept in a file over runs."""

from __future__ import annotations

import os
import sqlite3
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from .._errors import CacheError
from . import _tools as tools
from ._compiled import Compiled
from ._process import ProcessError

if TYPE_CHECKING:
    from ._registry import Language

_TABLE = (
    "create table if not exists compiled "
    "(compiler text, code blob, accepted integer, detail text, primary key (compiler, code)) "
    "without rowid"
)


class CompileCache:
    """Keeps what compilers said of code, by the compiler with its arguments and the code.

    A compiler that was replaced since (another file, size or time) is another one. Timeouts,
    crashes and compilers that are missing are not kept.

    Args:
        path: the file; it is made where it is not there.

    Raises:
        CacheError: the file cannot be opened, or is no such cache.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._lock = threading.Lock()
        try:
            self._file = sqlite3.connect(
                self._path, check_same_thread=False, isolation_level=None, timeout=30
            )
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._file.execute(_TABLE)
        except sqlite3.Error as error:
            raise CacheError(f"{self._path}: {error}") from None

    def get(self, language: Language, digest: bytes) -> Compiled | None:
        """What a language's compiler said of the code with a digest."""
        name = _compiler(language)
        if name is None:
            return None
        query = "select accepted, detail from compiled where compiler = ? and code = ?"
        try:
            with self._lock:
                row = self._file.execute(query, (name, digest)).fetchone()
        except sqlite3.Error as error:
            raise CacheError(f"{self._path}: {error}") from None
        return None if row is None else Compiled(bool(row[0]), row[1])

    def put(self, language: Language, digest: bytes, found: Compiled) -> None:
        """Keeps what it said."""
        name = _compiler(language)
        if name is None:
            return
        row = (name, digest, int(found.accepted), found.detail)
        try:
            with self._lock:
                self._file.execute("insert or replace into compiled values (?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise CacheError(f"{self._path}: {error}") from None

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._file.close()


@lru_cache(256)
def _compiler(language: Language) -> str | None:
    """A compiler as it is now: its commands, and what files they name."""
    try:
        commands = language.commands(b"")
    except (tools.UnavailableError, ProcessError):
        return None
    parts = [language.name]
    for command in commands:
        for argument in command.argv:
            parts.append(argument)
            if os.path.isabs(argument) and os.path.isfile(argument):
                found = os.stat(argument)
                parts.append(f"{found.st_size}:{found.st_mtime_ns}")
    return "\n".join(parts)
