"""A chat-completions server on loopback, scripted, that counts what it is asked."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Answer:
    """What the server does with a call."""

    text: str = '{"score": 0.9, "verdict": "pass", "reason": "fine"}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    drop: bool = False
    cut: bool = False
    wait: float = 0.0


PASS = Answer()
BLOCK = Answer('{"score": 0.1, "verdict": "block", "reason": "poor"}')


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return Answer(status=status, body=body, headers=headers)


class ChatServer:
    """Answers each call as `script` says: a list is used up, then its last entry repeats.

    Attributes:
        calls: the requests, parsed.
        most: the most calls that were in flight at once.
    """

    def __init__(self) -> None:
        self.script: list[Answer] | Callable[[dict[str, Any]], Answer] = [PASS]
        self.calls: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.keys: list[str] = []
        self.most = 0
        self.barrier: threading.Barrier | None = None
        self.refuse_formats = False
        self._now = 0
        self._lock = threading.Lock()
        self.stop = threading.Event()

    @property
    def prompts(self) -> list[str]:
        return [call["messages"][-1]["content"] for call in self.calls]

    def enter(self, call: dict[str, Any], key: str) -> Answer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.calls.append(call)
            self.times.append(time.monotonic())
            self.keys.append(key)
            if callable(self.script):
                return self.script(call)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def leave(self) -> None:
        with self._lock:
            self._now -= 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chat: ChatServer

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.chat
        assert self.path.endswith("/chat/completions")
        answer = chat.enter(call, self.headers.get("Authorization", ""))
        try:
            if chat.refuse_formats and "response_format" in call:
                answer = error(400, "response_format is not supported")
            elif chat.barrier is not None:
                chat.barrier.wait(10)
            if answer.wait:
                chat.stop.wait(answer.wait)
        finally:
            chat.leave()
        with suppress(OSError):
            self._answer(call, answer)

    def _answer(self, call: dict[str, Any], answer: Answer) -> None:
        if answer.drop:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        body = answer.body
        if body is None:
            prompt = call["messages"][-1]["content"]
            message = {"role": "assistant", "content": answer.text}
            usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 10}
            value = {
                "id": "x",
                "object": "chat.completion",
                "created": 1,
                "model": call["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": usage,
            }
            body = json.dumps(value).encode()
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) + (100 if answer.cut else 0)))
        self.end_headers()
        self.wfile.write(body)
        if answer.cut:
            self.close_connection = True

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def chat_server() -> Iterator[tuple[ChatServer, str]]:
    """A running server and its base URL."""
    chat = ChatServer()
    handler = type("Handler", (_Handler,), {"chat": chat})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield chat, f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        chat.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()
