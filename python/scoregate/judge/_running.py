"""Coroutines run to their end from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

T = TypeVar("T")


def run_sync(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end: here, or in a thread where an event loop runs already.

    Ctrl-C cancels it, waits for its end and raises KeyboardInterrupt.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main())
    # In a notebook, say.
    result: list[T] = []
    raised: list[BaseException] = []
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def inner() -> T:
        loops.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await main()

    def work() -> None:
        try:
            result.append(asyncio.run(inner()))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, name="scoregate-judge", daemon=True)
    thread.start()
    try:
        with _raising():
            thread.join()
    except KeyboardInterrupt:
        for loop, task in loops:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if raised:
        raise raised[0]
    return result[0]


@contextmanager
def _raising() -> Iterator[None]:
    """Ctrl-C raises at once. The loop that runs here only notes the first one, and cannot act on it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)
