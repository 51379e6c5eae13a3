"""The record of a run: each change of a phase as a line, so that a run can go on after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import InputError, OutputError
from ._state import STATUSES, PhaseState, now

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The name of the file in its folder.
NAME = "run.jsonl"

#: What is written is on the disk after so many seconds at most.
_SYNC_SECONDS = 0.1

_FORMAT = 1


class Past:
    """What a record holds of an earlier run.

    Attributes:
        args: the arguments of the run.
        states: the last state of each phase.
        status: how the run ended; None where it did not.
        size: the bytes of whole lines.
    """

    def __init__(self, path: Path) -> None:
        self.args: dict[str, Any] = {}
        self.states: dict[str, PhaseState] = {}
        self.status: str | None = None
        self.flow = ""
        self.size = 0
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        # A line that a crash has cut is none.
        self.size = data.rfind(b"\n") + 1
        for number, line in enumerate(data[: self.size].split(b"\n")[:-1], 1):
            try:
                self._line(json.loads(line))
            except (ValueError, LookupError, TypeError):
                raise InputError(f"{path}:{number}: is no line of a record") from None
        if not self.flow:
            raise InputError(f"{path}: is no record of a run")

    def _line(self, line: dict[str, Any]) -> None:
        if "flow" in line:
            if line["format"] != _FORMAT:
                raise ValueError
            self.flow, self.args = line["flow"], dict(line["args"])
            self.status = None
        elif "end" in line:
            self.status = line["end"]
        else:
            state = PhaseState.read(line)
            if state.status not in STATUSES:
                raise ValueError
            self.states[state.id] = state


class Record:
    """Appends the changes of a run to a file, and has them synced.

    Args:
        folder: where the file is; it is made.
        spec: the flow.
        name: its name.
        args: the arguments of the run.
        resume: goes on with the run that is there.

    Raises:
        InputError: there is a record where none is to be continued, or one of another flow.
        OutputError: it cannot be written.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        spec: Mapping[str, Any],
        name: str,
        args: Mapping[str, Any],
        *,
        resume: bool,
    ) -> None:
        path = self.path = Path(folder) / NAME
        key = fingerprint(spec)
        self.past: Past | None = None
        if path.exists():
            if not resume:
                raise InputError(f"{path}: holds a run; resume it, or choose another folder")
            # A file that ends before its first line is as good as none.
            if path.stat().st_size and b"\n" in path.read_bytes():
                self.past = Past(path)
        if self.past is not None and self.past.flow != key:
            raise InputError(f"{path}: is the record of another flow")
        if self.past is not None and args and dict(args) != self.past.args:
            raise InputError(f"{path}: is the record of a run with other arguments")
        self.args = dict(args) if self.past is None else self.past.args
        self._dirty = False
        self._syncing: asyncio.Task[None] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
        self._alone()
        os.ftruncate(self._file, self.past.size if self.past is not None else 0)
        self._write({"flow": key, "format": _FORMAT, "name": name, "args": self.args, "at": now()})

    def _alone(self) -> None:
        """Keeps another run from the file."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InputError(f"{self.path}: another run writes to it") from None

    def state(self, state: PhaseState) -> None:
        """Appends a change of a phase."""
        line = state.to_dict()
        if "gate" in line:
            del line["json"]  # the same
        self._write(line)
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.get_running_loop().create_task(self._sync())

    def _write(self, line: dict[str, Any]) -> None:
        data = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._dirty = True

    async def _sync(self) -> None:
        """Syncs what is written, and what comes meanwhile."""
        while self._dirty:
            await asyncio.sleep(_SYNC_SECONDS / 2)
            self._dirty = False
            await asyncio.to_thread(os.fsync, self._file)

    async def end(self, status: str) -> None:
        """Appends how the run ended, syncs and closes."""
        if self._syncing is not None:
            self._syncing.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self._syncing
        try:
            self._write({"end": status, "at": now()})
            os.fsync(self._file)
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from None
        finally:
            os.close(self._file)


def read_record(folder: str | os.PathLike[str]) -> dict[str, PhaseState]:
    """The last state of each phase that a record holds.

    Args:
        folder: the folder that the run was given.

    Raises:
        InputError: there is none, or it cannot be read.
    """
    return Past(Path(folder) / NAME).states


def fingerprint(spec: Mapping[str, Any]) -> str:
    """What tells a flow from others."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
