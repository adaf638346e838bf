"""Queries that cannot be accepted are refused before their body is read."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio.to_thread
import pytest
from fastapi import FastAPI
from starlette.types import Message

from app.service.application import create_app
from app.settings import Settings


class Silent:
    """An ASGI client that sends headers, and fails the test if its body is read."""

    def __init__(self, path: str, length: bytes | None) -> None:
        self.messages: list[Message] = []
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers += [(b"content-length", length)] if length is not None else []
        self.scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        self.scope |= {"headers": headers, "http_version": "1.1"}

    async def receive(self) -> Message:
        raise AssertionError("the body was asked for")

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    async def ask(self, app: FastAPI) -> dict[bytes, bytes]:
        """The status and headers of the answer."""
        await app(self.scope, self.receive, self.send)
        return {b"status": b"%d" % self.messages[0]["status"], **dict(self.messages[0]["headers"])}


@pytest.mark.parametrize("path", ["/v1/query", "/v1/chat/completions"])
@pytest.mark.parametrize(("length", "kept"), [(b"300", True), (b"1000000000", False), (None, False)])
def test_a_full_queue_is_said_before_the_body_is_read(
    make_pipeline: Any, small_settings: Settings, first_words: Any, path: str, length: bytes | None, kept: bool
) -> None:
    generator = first_words()
    generator.released.clear()
    settings = small_settings.model_copy(update={"max_active": 1, "max_queue": 0})
    app = create_app(make_pipeline(settings, generator))

    async def run() -> tuple[dict[bytes, bytes], str]:
        async with app.router.lifespan_context(app):
            service = app.state.answering
            turn = await service.admission.enter()
            refused = await Silent(path, length).ask(app)
            text = await anyio.to_thread.run_sync(service.metrics.text)
            turn.release()
            return refused, text.decode()

    refused, text = asyncio.run(run())
    assert refused[b"status"] == b"429"
    assert int(refused[b"retry-after"]) >= 1
    assert (b"connection" not in refused) is kept
    assert f'plumbline_requests_total{{method="POST",path="{path}",status="429"}} 1.0' in text
