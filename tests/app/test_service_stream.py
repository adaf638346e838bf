"""Streamed queries on a small real pipeline: events, disconnecting clients, deadlines, metrics and logs."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import select
from starlette.types import Message

from app.pipeline import Pipeline
from app.service.application import create_app, drain, idle
from app.service.observability.logs import LOGGER, JsonLines
from app.settings import Settings
from data.schema import queries

QUESTION = "How long is the warranty of the Heron 4?"


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as opened:
        yield opened


def events(client: TestClient, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    body = {"question": QUESTION, "stream": True, **fields}
    with client.stream("POST", "/v1/query", json=body) as response:
        assert response.status_code == 200
        text = "".join(response.iter_text())
    return [(name, json.loads(data)) for name, data in re.findall(r"^event: (\w+)\ndata: (.*)\n\n", text, re.MULTILINE)]


def test_sources_then_text_then_answers_then_verdicts_then_usage(client: TestClient) -> None:
    fields = {"n": 2, "temperature": 1.0, "seed": 3, "max_tokens": 8, "verify": True}
    found = events(client, **fields)
    full = client.post("/v1/query", json={"question": QUESTION, **fields}).json()
    names = [name for name, _ in found]
    assert names[0] == "sources"
    assert names[-3:] == ["answers", "verdicts", "done"]
    assert set(names[1:-3]) == {"text"}
    assert found[0][1]["sources"] == full["sources"]
    for sample, answer in enumerate(full["answers"]):
        expected = "".join(data["text"] for name, data in found if name == "text" and data["sample"] == sample)
        assert expected == answer["text"]
        judged = found[-2][1]["answers"][sample]
        assert (judged["outcome"], judged["verdicts"]) == (answer["outcome"], answer["verdicts"])
    plain = [{**answer, "outcome": None, "verdicts": None} for answer in full["answers"]]
    assert found[-3][1]["answers"] == plain
    assert found[-1][1]["usage"]["completion_tokens"] == full["usage"]["completion_tokens"]


def test_another_style_comes_whole(client: TestClient) -> None:
    found = events(client, style="sentence", max_tokens=6)
    texts = [data["text"] for name, data in found if name == "text"]
    (answers,) = (data["answers"] for name, data in found if name == "answers")
    assert "".join(texts) == answers[0]["text"]


def test_an_error_before_the_first_event_has_its_status(client: TestClient) -> None:
    body = {"question": QUESTION, "stream": True, "collection": "nots"}
    assert client.post("/v1/query", json=body).status_code == 404


def test_an_error_after_it_is_an_event(
    make_pipeline: Any, small_settings: Settings, first_words: Any, caplog: pytest.LogCaptureFixture
) -> None:
    broken = make_pipeline(small_settings, first_words(ZeroDivisionError(f"secret {QUESTION}")))
    with TestClient(create_app(broken)) as client, caplog.at_level(logging.INFO):
        found = events(client)
    assert [name for name, _ in found] == ["sources", "error"]
    assert found[1][1]["error"]["code"] == "internal_error"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


def test_verify_needs_a_collection_even_without_retrieval(client: TestClient) -> None:
    body = client.post("/v1/query", json={"question": QUESTION, "retrieval": False, "verify": True}).json()
    assert body["sources"] == []
    assert body["answers"][0]["outcome"] is not None


def test_the_deadline_comes_first(make_pipeline: Any, small_settings: Settings, first_words: Any) -> None:
    generator = first_words()
    generator.released.clear()
    app = create_app(make_pipeline(small_settings, generator))
    with TestClient(app) as client:
        try:
            # The generator keeps no deadline; the service gives it up a little after it.
            response = client.post("/v1/query", json={"question": QUESTION, "deadline_s": 0.001})
        finally:
            generator.released.set()
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "deadline_exceeded"
    assert response.headers["retry-after"]


class Leaving:
    """An ASGI client that disconnects when ``leaves`` is set."""

    def __init__(self, app: FastAPI, body: dict[str, Any]) -> None:
        self._app = app
        self._requests: list[Message] = [
            {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
        ]
        self.leaves = asyncio.Event()
        self.begun = asyncio.Event()

    async def receive(self) -> Message:
        if self._requests:
            return self._requests.pop()
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.begun.set()

    async def run(self) -> None:
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        scope = {"type": "http", "method": "POST", "path": "/v1/query", "raw_path": b"/v1/query", "query_string": b""}
        await self._app({**scope, "headers": headers, "http_version": "1.1"}, self.receive, self.send)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_gives_its_place_back(
    make_pipeline: Any, small_settings: Settings, first_words: Any, stream: bool
) -> None:
    generator = first_words()
    generator.released.clear()
    app = create_app(make_pipeline(small_settings, generator))

    async def run() -> None:
        async with app.router.lifespan_context(app):
            client = Leaving(app, {"question": QUESTION, "stream": stream})
            asking = asyncio.create_task(client.run())
            assert await anyio.to_thread.run_sync(generator.started.wait, 60)
            assert app.state.answering.admission.active == 1
            client.leaves.set()
            await asyncio.wait_for(asking, 60)
            await asyncio.wait_for(idle(app), 60)  # though the generator is still at work
            generator.released.set()

    try:
        asyncio.run(run())
    finally:
        generator.released.set()


def test_draining_hands_back_and_finishes(make_pipeline: Any, small_settings: Settings, first_words: Any) -> None:
    app = create_app(make_pipeline(small_settings, first_words()))
    with TestClient(app) as client:
        assert client.get("/readyz").status_code == 200
        drain(app)
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert "stopping" in ready.json()["reasons"][0]
        refused = client.post("/v1/query", json={"question": QUESTION})
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "shutting_down"
        assert refused.headers["retry-after"]
        assert refused.headers["connection"] == "close"
        assert client.get("/livez").status_code == 200


def test_queries_are_stored_behind_their_answers(
    make_pipeline: Any, make_settings: Any, home_copy: Any, first_words: Any
) -> None:
    pipeline = make_pipeline(make_settings(home_copy), first_words())
    with TestClient(create_app(pipeline)) as client:
        ids = [client.post("/v1/query", json={"question": f"{QUESTION} {n}"}).json()["id"] for n in range(3)]
    with pipeline.store.read() as connection:
        assert {row.id for row in connection.execute(select(queries.c.id))} >= set(ids)


def test_metrics(client: TestClient) -> None:
    client.post("/v1/query", json={"question": QUESTION, "verify": True, "max_tokens": 4})
    client.get("/nowhere-at-all")
    text = client.get("/metrics").text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    for stage in ("queue", "retrieval", "first_token", "generation", "verification", "total"):
        assert float(numbers[f'plumbline_stage_seconds_count{{stage="{stage}"}}']) >= 1, stage
    assert float(numbers['plumbline_tokens_total{kind="prompt"}']) > 0
    assert float(numbers['plumbline_batch_size_count{stage="retrieval"}']) >= 1
    assert float(numbers['plumbline_index_age_seconds{collection="notes"}']) >= 0
    assert numbers['plumbline_requests_total{method="POST",path="/v1/query",status="200"}']
    assert numbers['plumbline_requests_total{method="GET",path="none",status="404"}']
    assert "nowhere-at-all" not in text
    assert sum(float(v) for k, v in numbers.items() if k.startswith("plumbline_answers_total")) >= 1


@pytest.mark.parametrize("log_text", [False, True])
def test_logs_as_json(
    make_pipeline: Any, small_settings: Settings, first_words: Any, caplog: pytest.LogCaptureFixture, log_text: bool
) -> None:
    app = create_app(make_pipeline(small_settings, first_words()), log_text=log_text)
    with TestClient(app) as client, caplog.at_level(logging.DEBUG, logger=LOGGER):
        client.post("/v1/query", json={"question": QUESTION}, headers={"X-Request-Id": "r-9"})
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name == LOGGER]
    by_event = {line["event"]: line for line in lines}
    assert by_event["query"]["request_id"] == by_event["request"]["request_id"] == "r-9"
    assert by_event["query"]["generation_s"] >= 0
    assert (by_event["query"].get("question") == QUESTION) is log_text
    assert ("Heron" in caplog.text) is log_text
    assert (by_event["request"]["path"], by_event["request"]["status"]) == ("/v1/query", 200)
