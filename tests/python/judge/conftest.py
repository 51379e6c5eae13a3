from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from .server import ChatServer, chat_server

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-test-0123456789abcdef"


def need_openai() -> None:
    """Skips without the extra, unless SCOREGATE_REQUIRE names it."""
    try:
        import openai  # noqa: F401
    except ImportError:
        if "openai" in os.environ.get("SCOREGATE_REQUIRE", "").split(","):
            pytest.fail("openai is required and absent")
        pytest.skip("openai is absent")


class Served(ChatServer):
    """A server with its address."""

    url: str


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A running server; `chat.judge()` asks it."""
    need_openai()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with chat_server() as (server, url):
        found: Any = server
        found.url = url
        yield found
