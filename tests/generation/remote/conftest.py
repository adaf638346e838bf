"""Fixtures: a small HTTP server on loopback that sends scripted replies and records requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.loopback import LoopbackServer, QuietHandler

Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class ScriptedServer(LoopbackServer):
    """A server that sends the replies of ``script`` in order, and then repeats the last one. requests: their bodies."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.models: list[str] = ["tiny", "other"]
        self.released = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.paths.append(self.path)
                reply(200, {"data": [{"id": name} for name in outer.models]})(self, {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer._lock:
                    outer.requests.append(body)
                    outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                    outer.paths.append(self.path)
                    answer = outer.script.pop(0) if len(outer.script) > 1 else outer.script[0]
                answer(self, body)

        super().__init__(Handler)

    def close(self) -> None:
        self.released.set()
        super().close()


def reply(status: int, fields: object, **headers: str) -> Answer:
    """Return a reply with a JSON body. A str is sent unchanged."""

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        content = (fields if isinstance(fields, str) else json.dumps(fields)).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def events(*data: object, done: bool = True, cut: bool = False) -> Answer:
    """Return a server-sent stream. cut: whether to close the connection before the end of the announced body."""

    def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.send_header("connection", "close")
        if cut:
            handler.send_header("content-length", "1000000")
        handler.end_headers()
        handler.wfile.write(b": a comment\r\n\r\n")
        for item in data:
            text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            handler.wfile.write(f"data: {text}\r\n\r\n".encode())
            handler.wfile.flush()
        if done:
            handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True

    return answer


def chat(text: object, finish: str | None = "stop", **more: object) -> dict[str, Any]:
    """Return a chat completion with one choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    top = {name: more.pop(name) for name in ("usage", "system_fingerprint") if name in more}
    return {"choices": [choice | more], **top}


def piece(text: str | None, finish: str | None = None) -> dict[str, Any]:
    """Return an event of a streamed chat completion."""
    return {"choices": [{"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}]}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    made = ScriptedServer()
    yield made
    made.close()


@pytest.fixture
def wire() -> Any:
    """Return the functions above, because a conftest cannot be imported."""
    from types import SimpleNamespace

    return SimpleNamespace(reply=reply, events=events, chat=chat, piece=piece)


class FakeTime:
    """A clock that only ``sleep`` advances. slept: all waits."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def remote(server: ScriptedServer, fake_time: FakeTime) -> Iterator[Callable[..., Any]]:
    """Return a function that creates an OpenAIGenerator for the server, without real waits."""
    from generation.remote.clock import Timing
    from generation.remote.generator import OpenAIGenerator
    from generation.remote.options import RemoteOptions

    made: list[OpenAIGenerator] = []

    def make(url: str = "", **options: Any) -> OpenAIGenerator:
        timing = Timing(fake_time.clock, fake_time.sleep, lambda: 0.5)
        fields = {"read_s": 5.0, "parallel": 4, **options}
        made.append(OpenAIGenerator(RemoteOptions(url or server.url, fields.pop("model", "tiny"), **fields), timing))
        return made[-1]

    yield make
    for generator in made:
        generator.close()
