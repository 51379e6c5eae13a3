"""Runs compilers for another process, and leaves nothing of them behind.

A script that stands alone: its standard input is a Unix socket. Each message there brings the file
descriptors of one run (a control socket, then standard input, output and error of the compiler),
for which it forks a keeper. The keeper reads the request from the control socket, makes the
folder, writes the file, starts the compiler with all limits that the system has, and ends it when
its time is up, when it takes too much, or when the control socket closes, which it does also when
the other process is killed. Then it removes the folder and says how it went.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import sys
import time
from contextlib import suppress
from typing import Any

LINUX = sys.platform == "linux"
LIBC = ctypes.CDLL(None, use_errno=True) if LINUX else None

_NEW_USER, _NEW_NET, _NEW_PID, _NEW_IPC = 0x10000000, 0x40000000, 0x20000000, 0x08000000
_PDEATHSIG, _SUBREAPER, _NO_NEW_PRIVS = 1, 36, 38
_PAGE = resource.getpagesize()
_CLOCK = 0.05
_REAP_SECONDS = 5.0


def read_exactly(sock: socket.socket, size: int) -> bytes:
    """So many bytes; fewer where the other side has gone."""
    parts = []
    while size > 0 and (part := sock.recv(min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_message(sock: socket.socket) -> bytes | None:
    """A message: its length in eight bytes, then its bytes; None where the other side has gone."""
    head = read_exactly(sock, 8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack(">Q", head)
    body = read_exactly(sock, size)
    return body if len(body) == size else None


def send(sock: socket.socket, value: object) -> None:
    """Sends a message; who does not listen any more need not know."""
    body = json.dumps(value).encode()
    with suppress(OSError):
        sock.sendall(struct.pack(">Q", len(body)) + body)


def prctl(option: int, value: int) -> None:
    """Calls prctl where there is one."""
    if LIBC is not None:
        LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


# --- isolation ------------------------------------------------------------------------------------


def unshare() -> set[str]:
    """Leaves the network and the processes of the system, as far as it lets us."""
    if LIBC is None or not hasattr(LIBC, "unshare"):
        return set()
    user, group = os.getuid(), os.getgid()
    alone = _NEW_NET | _NEW_PID | _NEW_IPC
    for flags in (_NEW_USER | alone, alone):
        if LIBC.unshare(flags) == 0:
            if flags & _NEW_USER:
                maps = (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"))
                for name, text in (*maps, ("gid_map", f"{group} {group} 1")):
                    try:
                        with open(f"/proc/self/{name}", "w") as file:
                            file.write(text)
                    except OSError:
                        pass
            return {"network", "processes"}
    return set()


_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/dev/urandom",
)
_READ = 1 | 4 | 8
_FILES = 1 | 2 | 4 | 1 << 14 | 1 << 15


def landlock(reads: list[str], folder: str) -> set[str]:
    """Has the system refuse all files but the compiler's own and those of the folder."""
    if LIBC is None:
        return set()
    abi = LIBC.syscall(444, None, 0, 1)
    if abi < 1:
        return set()
    known = (1 << 13) - 1
    known |= (1 << 13 if abi >= 2 else 0) | (1 << 14 if abi >= 3 else 0)
    known |= 1 << 15 if abi >= 5 else 0
    net = 3 if abi >= 4 else 0
    rules = struct.pack("QQQ", known, net, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = LIBC.syscall(444, ctypes.c_char_p(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return set()
    allowed = [(path, _READ) for path in (*_SYSTEM, *reads)]
    allowed += [(folder, known), ("/dev/null", 2 | 4)]
    for path, access in allowed:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            access &= _FILES
        rule = struct.pack("=Qi", access & known, opened)
        LIBC.syscall(445, ruleset, 1, ctypes.c_char_p(rule), 0)
        os.close(opened)
    prctl(_NO_NEW_PRIVS, 1)
    done = LIBC.syscall(446, ruleset, 0) == 0
    os.close(ruleset)
    return ({"files", "connections"} if net else {"files"}) if done else set()


def limit(what: str, value: int | None) -> None:
    """Lowers a limit where the system has it."""
    number = getattr(resource, f"RLIMIT_{what}", None)
    if number is None or value is None:
        return
    _, hard = resource.getrlimit(number)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(number, (value, value))


# --- the processes of a compiler ------------------------------------------------------------------


def descendants(root: int) -> dict[int, int]:
    """The processes below one, and the bytes of memory that each has."""
    parents: dict[int, list[tuple[int, int]]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            parents.setdefault(int(fields[1]), []).append((int(name), int(fields[21]) * _PAGE))
    found: dict[int, int] = {}
    open_ones = [root]
    while open_ones:
        for pid, size in parents.get(open_ones.pop(), ()):
            if pid not in found:
                found[pid] = size
                open_ones.append(pid)
    return found


def kill(pid: int) -> None:
    """Kills a process and its group."""
    for end in (os.killpg, os.kill):
        with suppress(OSError):
            end(pid, signal.SIGKILL)


def end_all(own: int) -> None:
    """Kills what is left below this process, and reaps it."""
    deadline = time.monotonic() + _REAP_SECONDS
    while time.monotonic() < deadline:
        for pid in descendants(own):
            kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


class Run:
    """One run of a compiler."""

    def __init__(self, control: socket.socket, files: list[int]) -> None:
        self.control, self.files = control, files
        self.folder: str | None = None
        self.why: str | None = None
        self.isolation: set[str] = set()

    def serve(self) -> None:
        """Does all of it."""
        raw = read_message(self.control)
        content = read_message(self.control)
        if raw is None or content is None:
            return
        self.request = json.loads(raw)
        said: dict[str, object]
        try:
            said = self.run(content)
        except OSError as error:
            said = {"unavailable": error.strerror or "cannot be started"}
        finally:
            end_all(os.getpid())
            if self.folder is not None:
                remove(self.folder)
        said |= {"why": self.why, "isolation": sorted(self.isolation)}
        send(self.control, said)

    def run(self, content: bytes) -> dict[str, object]:
        """Runs the compiler on content, and says how it ended."""
        request = self.request
        prctl(_SUBREAPER, 1)
        folder = os.path.join(request["temp"], f"scoregate-{os.urandom(12).hex()}")
        os.mkdir(folder, 0o700)
        self.folder = folder
        send(self.control, {"folder": folder})
        if request["file"] is not None:
            path = os.path.join(folder, request["file"])
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(path, flags, 0o600), "wb") as file:
                file.write(content)
        if request["isolate"]:
            self.isolation = unshare()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self.control.close()
            self.first(writing)
        os.close(writing)
        for number in self.files:
            os.close(number)
        self.watch(child)
        with open(reading, "rb") as pipe:
            told = pipe.read()
        if not told:
            return {"code": -signal.SIGKILL}
        found = json.loads(told)
        self.isolation |= set(found.pop("isolation", ()))
        return dict(found)

    def first(self, writing: int) -> None:
        """The first process of the run, which in a process space of its own is the one to wait."""
        told: dict[str, object] = {}
        try:
            os.setsid()
            prctl(_PDEATHSIG, signal.SIGKILL)
            failure, failed = os.pipe()
            child = os.fork()
            if child == 0:
                self.start(failed)
            os.close(failed)
            with open(failure, "rb") as pipe:
                lines = pipe.read().split(b"\n", 1)
            for number in self.files:
                os.close(number)
            told["isolation"] = lines[0].decode().split()
            if len(lines) > 1 and lines[1]:
                told["unavailable"] = lines[1].decode()
            status = 0
            while True:
                pid, status = os.waitpid(-1, 0)
                if pid == child:
                    break
            told["code"] = os.waitstatus_to_exitcode(status)
        except OSError as error:
            told["unavailable"] = error.strerror or "cannot be started"
        finally:
            os.write(writing, json.dumps(told).encode())
            os._exit(0)

    def start(self, failed: int) -> None:
        """Becomes the compiler."""
        request = self.request
        try:
            # The group is the one of the process that waits, so that both are killed at once.
            prctl(_PDEATHSIG, signal.SIGKILL)
            for target, number in enumerate(self.files):
                os.dup2(number, target)
            os.dup2(failed, 3, inheritable=False)
            os.closerange(4, 1 << 10)
            folder = self.folder or "/"
            os.chdir(folder)
            limit("CORE", 0)
            limit("NOFILE", 512)
            limit("CPU", request["cpu"])
            limit("FSIZE", request["file_bytes"])
            limit("AS", request["address_bytes"])
            if "processes" in self.isolation and os.getuid() != 0:
                limit("NPROC", request["processes"] * 16)
            found = landlock(request["reads"], folder) if request["isolate"] else set()
            os.write(3, " ".join(sorted(found)).encode() + b"\n")
            # Python ignores these two, and what is ignored stays so.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            place = {"HOME": folder, "TMPDIR": folder}
            os.execve(request["argv"][0], request["argv"], request["env"] | place)
        except OSError as error:
            os.write(3, (error.strerror or "cannot be started").encode())
        finally:
            os._exit(127)

    def watch(self, child: int) -> None:
        """Waits for the end of the run, and brings it about when it must be."""
        request = self.request
        deadline = None if request["timeout"] is None else time.monotonic() + request["timeout"]
        ends = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
        watched: list[Any] = [self.control] if ends is None else [self.control, ends]
        while self.why is None:
            ready, _, _ = select.select(watched, [], [], _CLOCK)
            if os.waitpid(child, os.WNOHANG)[0]:
                break
            if self.control in ready:
                self.why = "cancelled"
            elif deadline is not None and time.monotonic() >= deadline:
                self.why = "timeout"
            else:
                self.why = self.excess(child)
        if self.why is not None:
            kill(child)
            os.waitpid(child, 0)
        if ends is not None:
            os.close(ends)

    def excess(self, child: int) -> str | None:
        """What the run has too much of."""
        found = descendants(child)
        if len(found) > self.request["processes"]:
            return "processes"
        return "memory" if sum(found.values()) > self.request["memory_bytes"] else None


def remove(folder: str) -> None:
    """Removes a folder, whatever was made of it."""

    def again(function: object, path: str, _: object) -> None:
        # A folder that may not be read or written is this process's own all the same.
        for place in (os.path.dirname(path), path):
            with suppress(OSError):
                if not os.path.islink(place):
                    os.chmod(place, 0o700)

    for _ in range(3):
        shutil.rmtree(folder, onerror=again)
        if not os.path.lexists(folder):
            return


def main() -> None:
    """Serves runs until the other process has gone."""
    requests = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, files, _, _ = socket.recv_fds(requests, 1, 4)
        if not data:
            return
        try:
            pid = os.fork()
        except OSError:
            pid = -1
        if pid == 0:
            requests.close()
            os.close(0)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
            os.setsid()
            Run(socket.socket(fileno=files[0]), files[1:]).serve()
            os._exit(0)
        for number in files:
            os.close(number)


if __name__ == "__main__":
    main()
