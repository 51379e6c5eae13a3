"""The cache of replies."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from scoregate import CacheError
from scoregate.judge import JudgeCache, JudgeReply, Usage
from scoregate.judge._cache import cache_key

if TYPE_CHECKING:
    from pathlib import Path


def test_a_reply_comes_back(tmp_path: Path) -> None:
    with JudgeCache(tmp_path / "c") as cache:
        key = cache_key("m", "prompt")
        assert cache.get(key) is None
        for reply in (JudgeReply("a", Usage(3, 4), "m-1"), JudgeReply("b")):
            cache.put(key, "j", reply)
            assert cache.get(key) == reply
    with JudgeCache(tmp_path / "c") as again:
        assert again.get(key) == JudgeReply("b")
        copy = pickle.loads(pickle.dumps(again))
        assert copy.get(key) == JudgeReply("b")
        copy.close()


def test_the_key_holds_everything_that_matters() -> None:
    keys = {
        cache_key("m", "p"),
        cache_key("n", "p"),
        cache_key("m", "q"),
        cache_key("m", "p", {"type": "object"}),
        cache_key("m", "p", None, 1),
    }
    assert len(keys) == 5
    assert cache_key("m", "\ud800") != cache_key("m", "\ufffd")


@pytest.mark.skipif(os.name == "nt", reason="modes")
def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with JudgeCache(tmp_path / "c") as cache:
            cache.put(b"k", "j", JudgeReply("secret"))
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert "c-wal" in modes
    assert set(modes.values()) == {0o600}
    assert b"prompt" not in (tmp_path / "c").read_bytes()


def test_old_replies_are_no_replies(tmp_path: Path) -> None:
    with JudgeCache(tmp_path / "c", ttl=0.05) as cache:
        cache.put(b"k", "j", JudgeReply("a"))
        assert cache.get(b"k") is not None
        time.sleep(0.06)
        assert cache.get(b"k") is None
        assert cache.info().expired == 1
        assert cache.prune() == 1
        assert cache.info().replies == 0


def test_the_least_used_go_when_there_are_too_many(tmp_path: Path) -> None:
    with JudgeCache(tmp_path / "c", max_bytes=10_000) as cache:
        for number in range(100):
            cache.put(bytes([number]), "j", JudgeReply("x" * 500))
        info = cache.info()
        assert 5 <= info.replies <= 13
        assert info.bytes <= 10_000
        assert cache.get(bytes([99])) is not None
        assert cache.get(bytes([0])) is None
        cache.put(b"big", "j", JudgeReply("x" * 20_000))
        assert cache.get(b"big") is None


def test_info_and_clear(tmp_path: Path) -> None:
    with JudgeCache(tmp_path / "c") as cache:
        cache.put(b"1", "j", JudgeReply("a", Usage(1, 2)))
        cache.put(b"2", "j", JudgeReply("a", Usage(3, 4)))
        cache.put(b"3", "k", JudgeReply("a"))
        info = cache.info()
        assert (info.replies, info.expired) == (3, 0)
        assert [(m.judge, m.replies, m.usage) for m in info.models] == [
            ("j", 2, Usage(4, 6)),
            ("k", 1, Usage()),
        ]
        assert cache.clear() == 3
        assert cache.info().newest is None


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "db")
    other.execute("CREATE TABLE t (a)")
    other.close()
    before = (tmp_path / "db").read_bytes()
    with pytest.raises(CacheError, match="is a database, but no cache"):
        JudgeCache(tmp_path / "db")
    assert (tmp_path / "db").read_bytes() == before
    (tmp_path / "text").write_text("hello " * 1000)
    with pytest.raises(CacheError, match="cannot be opened as a cache"):
        JudgeCache(tmp_path / "text")
    with pytest.raises(CacheError, match="cannot be opened as a cache: No such file"):
        JudgeCache(tmp_path / "no" / "folder")


def test_a_cache_that_breaks_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = JudgeCache(tmp_path / "c")
    cache._connection().execute("DROP TABLE reply")
    for _ in range(3):
        cache.put(b"k", "j", JudgeReply("secret"))
        assert cache.get(b"k") is None
    cache.close()
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


WRITER = """
import sys
from scoregate.judge import JudgeCache, JudgeReply
with JudgeCache(sys.argv[1]) as cache:
    for number in range(50):
        cache.put(f"{sys.argv[2]}-{number}".encode(), "j", JudgeReply("x" * 100))
        assert cache.get(f"{sys.argv[2]}-{number}".encode()) is not None
"""


def test_several_processes_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "c")
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in ("a", "b", "c")
    ]
    assert [process.wait(30) for process in started] == [0, 0, 0]
    with JudgeCache(path) as cache:
        assert cache.info().replies == 150


def test_several_threads_share_a_cache(tmp_path: Path) -> None:
    with JudgeCache(tmp_path / "c") as cache:

        def write(name: str) -> None:
            for number in range(50):
                cache.put(f"{name}-{number}".encode(), "j", JudgeReply("x"))

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cache.info().replies == 200
