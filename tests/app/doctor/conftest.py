"""A small real server with OpenAI's API, whose text depends on prompt, seed and temperature, with selectable faults."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from generation.remote.options import RemoteOptions
from generation.remote.probe import ServerProbe
from tests.loopback import LoopbackServer, QuietHandler

CONTEXT = 600


class FakeServer(LoopbackServer):
    """A server with faults. faults: their names. served: number of completely answered requests."""

    def __init__(self, *faults: str) -> None:
        self.faults = frozenset(faults)
        self.lock = threading.Lock()
        self.pace = threading.Event()  # never set: waiting on it is a token's time
        self.count = 0
        self.active = 0
        self.read: set[str] = set()
        outer = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                entry: dict[str, Any] = {"id": "tiny", "object": "model"}
                if "lists_context" in outer.faults:
                    entry["max_model_len"] = CONTEXT
                outer.send(self, 404 if "no_list" in outer.faults else 200, {"data": [entry]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer.lock:
                    outer.active += 1
                try:
                    outer.answer(self, body)
                except OSError:
                    self.close_connection = True
                finally:
                    with outer.lock:
                        outer.active -= 1

        self.work = threading.Lock() if "finishes_alone" in self.faults else None
        super().__init__(Handler)

    def send(self, handler: BaseHTTPRequestHandler, status: int, fields: object) -> None:
        content = json.dumps(fields).encode()
        handler.send_response(status)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    def token(self, body: dict[str, Any], place: int) -> str:
        salt: tuple[object, ...] = (body["messages"][-1]["content"],)
        if body["temperature"] > 0 and "ignores_seeds" not in self.faults:
            salt += (body["seed"],)
        if "never_repeats" in self.faults:
            with self.lock:
                self.count += 1
                salt += (self.count,)
        if "changes_under_load" in self.faults and self.active > 1:
            salt += ("load",)
        return f" w{hashlib.sha256(repr((*salt, place)).encode()).hexdigest()[:4]}"

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        prompt = body["messages"][-1]["content"]
        read = len(prompt.split())
        if body["model"] != "tiny" and "any_name" not in self.faults:
            self.send(handler, 404, {"error": {"message": "no such model"}})
            return
        if body.get("logprobs") and "refuses_logprobs" in self.faults:
            self.send(handler, 500, {"error": {"message": "logprobs are off"}})
            return
        if read + body["max_tokens"] > CONTEXT:
            if "cuts_prompts" not in self.faults:
                message = f"This model's maximum context length is {CONTEXT} tokens. However, you requested {read}."
                self.send(handler, 400, {"error": {"message": message, "type": "BadRequestError", "code": 400}})
                return
            read = CONTEXT // 2
        if body.get("n", 1) > 1 and "refuses_n" in self.faults:
            self.send(handler, 400, {"error": {"message": "n must be 1"}})
            return
        if self.work is None:
            self.write(handler, body, read)
        else:
            with self.work:
                self.write(handler, body, read)

    def write(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], read: int) -> None:
        prompt = body["messages"][-1]["content"]
        cached = prompt in self.read
        self.read.add(prompt)
        if not cached or "no_cache" in self.faults:
            self.pace.wait(read * 0.0005)
        usage = {"prompt_tokens": read, "completion_tokens": body["max_tokens"]}
        if body.get("stream"):
            self.stream(handler, body, usage)
            return
        choices = []
        for index in range(1 if "ignores_n" in self.faults else body.get("n", 1)):
            own = body | {"seed": body["seed"] + 1000 * index}
            tokens = []
            for place in range(body["max_tokens"]):
                self.pace.wait(0.002)
                tokens.append(self.token(own, place))
            logprob = (
                -1.0 / (body["temperature"] if "scales_logprobs" in self.faults else 1.0)
                if body["temperature"]
                else -1.0
            )
            part = {"token": " w", "logprob": logprob, "top_logprobs": [{"token": " w", "logprob": logprob}]}
            given = {"content": [part] * (len(tokens) // (2 if "half_logprobs" in self.faults else 1))}
            logprobs = given if body.get("logprobs") and "no_logprobs" not in self.faults else None
            message = {"role": "assistant", "content": "".join(tokens)}
            choices.append({"index": index, "message": message, "logprobs": logprobs, "finish_reason": "length"})
        fields: dict[str, Any] = {"choices": choices}
        if "no_usage" not in self.faults:
            fields["usage"] = usage
        self.send(handler, 200, fields)

    def stream(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], usage: dict[str, int]) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.close_connection = True
        gone = False
        tokens = [self.token(body, place) for place in range(body["max_tokens"])]
        if "one_piece" in self.faults:
            tokens = ["".join(tokens)]
        for token in tokens:
            self.pace.wait(0.004)
            try:
                if not gone:
                    self.event(handler, {"choices": [{"delta": {"content": token}, "finish_reason": None}]})
            except OSError:
                gone = True
            if gone and "finishes_alone" not in self.faults:
                return
            if "interrupts" in self.faults and self.active > 1:
                handler.wfile.write(b"data: [DONE]\n\n")
                return
        if "no_end" not in self.faults:
            self.event(handler, {"choices": [{"delta": {}, "finish_reason": "length"}]})
        if "no_usage" not in self.faults:
            self.event(handler, {"choices": [], "usage": usage})
        handler.wfile.write(b"data: [DONE]\n\n")

    def event(self, handler: BaseHTTPRequestHandler, fields: object) -> None:
        handler.wfile.write(f"data: {json.dumps(fields)}\n\n".encode())
        handler.wfile.flush()


@pytest.fixture
def fake_server() -> Iterator[Callable[..., FakeServer]]:
    """Function that starts a server with given faults; it is closed at the end."""
    made: list[FakeServer] = []

    def make(*faults: str) -> FakeServer:
        made.append(FakeServer(*faults))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def probe(fake_server: Callable[..., FakeServer]) -> Iterator[Callable[..., ServerProbe]]:
    """Function that returns a probe of a server with given faults and options."""
    made: list[ServerProbe] = []

    def make(*faults: str, **options: Any) -> ServerProbe:
        fields = {"context_length": CONTEXT, "model": "tiny", **options}
        made.append(ServerProbe(RemoteOptions(fake_server(*faults).url, **fields)))
        return made[-1]

    yield make
    for opened in made:
        opened.close()
