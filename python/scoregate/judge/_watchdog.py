"""Ends what a run has started when the run is killed.

A process that is killed outright can clean nothing up. A watchdog, one a process and started with
the first command, holds the other end of a pipe: when the pipe closes it kills the process groups
that were named to it and not taken back.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

_CODE = """
import os, signal, sys
groups = set()
for line in sys.stdin.buffer:
    try:
        number = int(line)
    except ValueError:
        continue
    groups.add(number) if number > 0 else groups.discard(-number)
for number in groups:
    try:
        os.killpg(number, signal.SIGKILL)
    except OSError:
        pass
"""


class _Watchdog:
    """The watchdog of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe = -1
        self._owner = 0

    def tell(self, number: int) -> None:
        """Names a process group, or takes it back with a negative number."""
        if not hasattr(os, "killpg"):
            return
        with self._lock, suppress(OSError, ValueError, TypeError):
            if self._owner != os.getpid():  # none yet, or a parent's
                self._start()
            if self._pipe >= 0:
                os.write(self._pipe, b"%d\n" % number)

    def _start(self) -> None:
        self._owner, self._pipe = os.getpid(), -1
        # In a session of its own: what is sent to the run's group does not reach it.
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if process.stdin is not None:
            self._pipe = os.dup(process.stdin.fileno())
            process.stdin.close()
        # It ends after this process, so that nobody here can wait for it.
        process.returncode = 0


_OURS = _Watchdog()


def watch(group: int) -> None:
    """Has a process group killed should this process die before ``release``."""
    _OURS.tell(group)


def release(group: int) -> None:
    """Takes a process group back, which has ended."""
    _OURS.tell(-group)
