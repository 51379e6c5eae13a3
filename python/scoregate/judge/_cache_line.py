"""A cache as an event loop uses it: never waited for longer than a moment.

The file is touched in a thread of its own, one for each run. A file that does not answer (another
process holds it, a disk hangs) is passed over for the rest of the run, which costs calls and
nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from ._cache import JudgeCache

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable

    from ._protocol import JudgeReply

log = logging.getLogger("scoregate.judge")

#: The seconds that a file may take to answer.
_PATIENCE = 2.0


class CacheLine:
    """The way from one run to a cache.

    Args:
        cache: the cache, or the path of its file, which is opened by ``open``.
    """

    def __init__(self, cache: JudgeCache | str | os.PathLike[str]) -> None:
        self._given = cache
        self._cache = cache if isinstance(cache, JudgeCache) else None
        self._work: queue.SimpleQueue[Callable[[], None] | None] | None = None
        self._off = False
        #: Calls in flight of this run, where the cache itself is not open.
        self._flying: dict[tuple[int, bytes], asyncio.Future[None]] = {}

    async def open(self, left: float | None) -> None:
        """Opens the file.

        Raises:
            CacheError: it is no cache, or cannot be opened.
        """
        given = self._given
        if self._cache is None and not isinstance(given, JudgeCache):
            self._cache = await self._run(lambda: JudgeCache(given), left)

    @asynccontextmanager
    async def alone(self, key: bytes, left: float | None) -> AsyncIterator[bool]:
        """Holds a key, so that one call at a time is made for it; False when time is up."""
        loop = asyncio.get_running_loop()
        flying = self._flying if self._cache is None else self._cache.flying
        here = (id(loop), key)
        end = None if left is None else loop.time() + left
        while (flight := flying.get(here)) is not None:
            await asyncio.wait([flight], timeout=None if end is None else end - loop.time())
            if end is not None and loop.time() >= end:
                yield False
                return
        flight = flying[here] = loop.create_future()
        try:
            yield True
        finally:
            del flying[here]
            flight.set_result(None)

    async def get(self, key: bytes, left: float | None) -> JudgeReply | None:
        """The reply under a key; None as well when the file does not answer."""
        cache = self._cache
        if cache is None or self._off:
            return None
        found: JudgeReply | None = await self._run(lambda: cache.get(key), left)
        return found

    def put(self, key: bytes, judge: str, reply: JudgeReply) -> None:
        """Has a reply kept, and does not wait for that."""
        cache = self._cache
        if cache is not None and not self._off:
            self._start(lambda: cache.put(key, judge, reply))

    async def flush(self, left: float | None) -> None:
        """Waits until what is to be kept is kept, and ends the thread; a next use starts another."""
        if self._work is None:
            return
        if not self._off:
            await self._run(lambda: None, left)
        if self._cache is not None and self._cache is not self._given:
            self._work.put(self._cache.close)  # which may wait for the file too
        self._work.put(None)
        self._work = None

    async def _run(self, work: Callable[[], Any], left: float | None) -> Any:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def tell(result: Any, error: Exception | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(result)
            else:
                done.set_exception(error)

        def run() -> None:
            result, failure = None, None
            try:
                result = work()
            except Exception as error:
                failure = error
            with suppress(RuntimeError):  # the loop has gone
                loop.call_soon_threadsafe(tell, result, failure)

        self._start(run)
        patience = _PATIENCE if left is None else max(0.0, min(_PATIENCE, left))
        try:
            async with asyncio.timeout(patience):
                return await done
        except TimeoutError:
            if not self._off and patience == _PATIENCE:
                self._off = True
                log.warning("the cache does not answer and is passed over")
            return None

    def _start(self, work: Callable[[], None]) -> None:
        if self._work is None:
            self._work = queue.SimpleQueue()
            args = (self._work,)
            threading.Thread(target=_loop, args=args, name="scoregate-cache", daemon=True).start()
        self._work.put(work)


def _loop(works: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (work := works.get()) is not None:
        with suppress(Exception):
            work()
