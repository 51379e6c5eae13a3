"""A cache of judge replies: one SQLite file that several processes may share.

A reply is found by a hash of the judge's model and parameters, the schema, the prompt and the
trial number. Prompts are not stored; replies are, as they came, in a file that only its owner may
read. Only replies that could be read as a verdict are kept, so that a broken one is asked again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._errors import CacheError
from ._protocol import JudgeReply, Usage, sound

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Self

log = logging.getLogger("scoregate.judge")

#: Marks a file as ours ("scor").
_APPLICATION = 0x73636F72
_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reply (
  key BLOB PRIMARY KEY,
  judge TEXT NOT NULL,
  model TEXT,
  text TEXT NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  created REAL NOT NULL,
  used REAL NOT NULL,
  size INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS reply_used ON reply (used, size);
"""

#: So many writes pass between two looks at the size.
_LOOK = 64

#: Connections of a parent process, which a forked child must not close.
_PARENTS: list[sqlite3.Connection] = []

#: What a row costs besides its text.
_ROW = 256

#: The seconds for which another process may hold the file.
_BUSY = 5.0


@dataclass(frozen=True, slots=True)
class CacheModel:
    """What a cache holds of one judge."""

    judge: str
    replies: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds.

    Attributes:
        path: the file.
        replies: how many replies.
        bytes: what they take.
        expired: how many of them are past their time to live.
        oldest: when the oldest was written, in seconds since 1970; None without replies.
        newest: when the newest was written.
        models: the replies and the tokens that they once cost, by judge.
    """

    path: str
    replies: int
    bytes: int
    expired: int
    oldest: float | None
    newest: float | None
    models: tuple[CacheModel, ...]


class JudgeCache:
    """A cache of judge replies in a file; made when it is absent.

    It may be used by several threads and processes at once, and pickles by its path. A write that
    fails while a run goes on (a full disk) is told once in the log and loses nothing but the entry.

    Args:
        path: the file.
        ttl: the seconds for which a reply is good; None for ever.
        max_bytes: the replies that were not used for the longest time go when there is more.

    Raises:
        CacheError: the file cannot be opened or is no cache.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ttl: float | None = None,
        max_bytes: int = 1 << 30,
    ) -> None:
        if ttl is not None and not ttl > 0:
            raise ValueError("ttl: must be over 0")
        if max_bytes < 1:
            raise ValueError("max_bytes: must be at least 1")
        self._path = os.fspath(path)
        self._ttl = ttl
        self._max_bytes = max_bytes
        self._start()
        self._connection()

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._process = 0
        self._writes = 0
        self._told = False
        #: Calls in flight, by event loop and key.
        self.flying: dict[tuple[int, bytes], asyncio.Future[None]] = {}

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def _connection(self) -> sqlite3.Connection:
        """The connection of this process; one is not carried over a fork."""
        if self._open is not None and self._process != os.getpid():
            _PARENTS.append(self._open)  # closing it would undo the parent's locks
            self._open = None
        if self._open is None:
            self._open = _open(self._path)
            self._process = os.getpid()
        return self._open

    def get(self, key: bytes) -> JudgeReply | None:
        """The reply under a key, unless it is absent or too old."""
        now = time.time()
        query = "SELECT text, input_tokens, output_tokens, model, created, used FROM reply WHERE key = ?"
        with self._lock:
            try:
                row = self._connection().execute(query, (key,)).fetchone()
                if row is None or (self._ttl is not None and float(row[4]) + self._ttl <= now):
                    return None
                if now - float(row[5]) > 60:  # a use a minute is exact enough, and spares writes
                    update = "UPDATE reply SET used = ? WHERE key = ?"
                    self._connection().execute(update, (now, key))
            except (sqlite3.Error, CacheError, ValueError, TypeError) as error:
                self._tell(error)
                return None
        # Nobody says that this version wrote it.
        text, inputs, outputs, model = row[:4]
        if not isinstance(text, str):
            return None
        usage = Usage(inputs, outputs) if inputs is not None else None
        return sound(JudgeReply(text, usage, model))

    def put(self, key: bytes, judge: str, reply: JudgeReply) -> None:
        """Keeps a reply; one that no text of a file can be (lone surrogates) is not kept."""
        reply = sound(reply)
        try:
            size = len(reply.text.encode()) + _ROW
        except UnicodeEncodeError:
            return
        if size > self._max_bytes:
            return
        usage = reply.usage
        tokens = (None, None) if usage is None else (usage.input_tokens, usage.output_tokens)
        now = time.time()
        row = (key, judge, reply.model, reply.text, *tokens, now, now, size)
        with self._lock:
            try:
                insert = "INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                self._connection().execute(insert, row)
                self._writes += 1
                if self._writes % _LOOK == 1 or size * _LOOK > self._max_bytes:
                    self._shrink()
            except (sqlite3.Error, CacheError, ValueError, TypeError) as error:
                self._tell(error)

    def _shrink(self) -> None:
        connection = self._connection()
        (total,) = connection.execute("SELECT total(size) FROM reply").fetchone()
        if total <= self._max_bytes:
            return
        # Down to nine tenths, so that not every write has to.
        over = total - self._max_bytes * 9 // 10
        keys = []
        for key, size in connection.execute("SELECT key, size FROM reply ORDER BY used"):
            if over <= 0:
                break
            keys.append((key,))
            over -= size
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("DELETE FROM reply WHERE key = ?", keys)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise CacheError(f"{self._path}: {error}") from None

    def _tell(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            log.warning("the cache %s failed and is passed over: %s", self._path, error)

    def prune(self) -> int:
        """Removes replies that are too old or too many, and gives how many.

        Raises:
            CacheError: the file is broken, or another process does not let go of it.
        """
        with self._lock, self._errors():
            connection = self._connection()
            before = connection.total_changes
            if self._ttl is not None:
                oldest = time.time() - self._ttl
                connection.execute("DELETE FROM reply WHERE created <= ?", (oldest,))
            self._shrink()
            removed = connection.total_changes - before
            connection.execute("VACUUM")
            return removed

    def clear(self) -> int:
        """Removes all replies, and gives how many there were.

        Raises:
            CacheError: as in ``prune``.
        """
        with self._lock, self._errors():
            connection = self._connection()
            removed = connection.execute("DELETE FROM reply").rowcount
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return removed

    def info(self) -> CacheInfo:
        """What the cache holds.

        Raises:
            CacheError: as in ``prune``.
        """
        with self._lock, self._errors():
            connection = self._connection()
            query = "SELECT count(*), total(size), min(created), max(created) FROM reply"
            count, size, oldest, newest = connection.execute(query).fetchone()
            expired = 0
            if self._ttl is not None:
                query = "SELECT count(*) FROM reply WHERE created <= ?"
                (expired,) = connection.execute(query, (time.time() - self._ttl,)).fetchone()
            query = (
                "SELECT judge, count(*), total(input_tokens), total(output_tokens) "
                "FROM reply GROUP BY judge ORDER BY judge"
            )
            models = tuple(
                CacheModel(judge, replies, Usage(int(inputs), int(outputs)))
                for judge, replies, inputs, outputs in connection.execute(query)
            )
        return CacheInfo(self._path, count, int(size), expired, oldest, newest, models)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._open is not None and self._process == os.getpid():
                self._open.close()
                self._open = None

    def __enter__(self) -> Self:
        """The cache, to be closed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        self.close()

    def __del__(self) -> None:
        """Closes it, unless a thread still waits for the file."""
        with suppress(Exception):
            if self._lock.acquire(blocking=False):
                try:
                    self.close()
                finally:
                    self._lock.release()

    def __getstate__(self) -> tuple[str, float | None, int]:
        """The path and the limits."""
        return self._path, self._ttl, self._max_bytes

    def __setstate__(self, state: tuple[str, float | None, int]) -> None:
        """Opens the file when it is used."""
        self._path, self._ttl, self._max_bytes = state
        self._start()

    def __repr__(self) -> str:
        """The path."""
        return f"JudgeCache({self._path!r})"


def cache_key(
    identity: str,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    trial: int = 0,
    ordinal: int = 0,
) -> bytes:
    """The key of a reply; the ordinal tells apart judges of one identity that are asked together."""
    parts = [_VERSION, identity, schema, trial, ordinal, prompt]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).digest()


def _open(path: str) -> sqlite3.Connection:
    try:
        with suppress(FileExistsError):
            # Made before SQLite sees it: its side files take over the mode.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            path, timeout=_BUSY, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    except (OSError, sqlite3.Error) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise CacheError(f"{path}: cannot be opened as a cache: {words}") from None
    return connection


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    # In one transaction: another process may be making the file ours.
    connection.execute("BEGIN")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("COMMIT")
    if application != _APPLICATION:
        if tables or application:
            raise CacheError(f"{path}: is a database, but no cache of judge replies")
    elif version > _VERSION:
        raise CacheError(f"{path}: was written by a newer scoregate")
    connection.execute("PRAGMA synchronous = NORMAL")
    if application == _APPLICATION and version == _VERSION:
        connection.execute("PRAGMA journal_mode = WAL")
        return
    _patiently(connection, "PRAGMA journal_mode = WAL")
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";"):
            if statement.strip():
                cursor.execute(statement)
        cursor.execute(f"PRAGMA application_id = {_APPLICATION}")
        cursor.execute(f"PRAGMA user_version = {_VERSION}")
        cursor.execute("COMMIT")


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """A change of the journal mode does not wait for locks by itself."""
    deadline = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
