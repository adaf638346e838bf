"""Request bodies: a body is read only after the caller is admitted, and up to its limits."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from app.accounts.keys import KeyLimits, KeyStore
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.http.body_budget import FREE_BYTES, BodyBudget
from app.service.http.body_limit import BodyLimit
from app.service.http.errors import ApiError
from app.service.http.json_body import LARGE_BYTES, MOST_VALUES, count_marks
from tests.app.collection_calls import error_code

JSON = {"Content-Type": "application/json"}


class Sender:
    """An ASGI client that sends ``messages`` and then nothing."""

    def __init__(self, *messages: Message) -> None:
        self.waiting = list(messages)
        self.asked = 0
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        self.asked += 1
        if not self.waiting:
            await asyncio.Event().wait()
        return self.waiting.pop(0)

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def closes(self) -> bool:
        return (b"connection", b"close") in self.sent[0]["headers"]


async def reads(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(str(len(body)))(scope, receive, send)


async def reads_nothing(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("no")(scope, receive, send)


def scope_of(path: str, **headers: str) -> Scope:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "POST", "path": path, "headers": pairs, "query_string": b""}


def piece(size: int, more: bool = True) -> Message:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


@pytest.mark.parametrize("path", ["/v1/verify", "/v1/query", "/v1/chat/completions", "/v1/evaluations", "/v1/retrieve"])
@pytest.mark.parametrize("token", [None, "Bearer sk-other", "Bearer pl-0123456789abcdef-" + "A" * 43])
def test_no_byte_of_a_body_is_asked_for_without_a_key(pipeline: Pipeline, path: str, token: str | None) -> None:
    KeyStore(pipeline.store).create("only", ["query"])
    app = create_app(pipeline, require_key=True)
    headers = {"content_type": "application/json", "content_length": "14500000"}
    client = Sender(piece(1000))

    async def served() -> None:
        async with app.router.lifespan_context(app):
            given = headers | ({"authorization": token} if token else {})
            await app(scope_of(path, **given), client.receive, client.send)

    asyncio.run(served())
    assert (client.status, client.asked, client.closes) == (401, 0, True)


def test_scope_and_rate_are_decided_before_the_body(pipeline: Pipeline) -> None:
    keys = KeyStore(pipeline.store)
    asks = keys.create("asks", ["query"], limits=KeyLimits(requests_per_minute=1))
    app = create_app(pipeline, require_key=True)
    clients = [Sender(piece(10)), Sender(piece(2, more=False)), Sender(piece(10))]

    async def served() -> None:
        async with app.router.lifespan_context(app):
            for client, path in zip(clients, ("/v1/evaluations", "/v1/verify", "/v1/verify"), strict=True):
                given = {"content_type": "application/json", "authorization": f"Bearer {asks.secret}"}
                await app(scope_of(path, **given), client.receive, client.send)

    asyncio.run(served())
    assert [client.status for client in clients] == [403, 400, 429]
    assert [client.asked for client in clients] == [0, 1, 0]


def test_a_request_counts_once_in_its_keys_rate(pipeline: Pipeline) -> None:
    key = KeyStore(pipeline.store).create("two", ["query"], limits=KeyLimits(requests_per_minute=2))
    headers = {"Authorization": f"Bearer {key.secret}"}
    with TestClient(create_app(pipeline, require_key=True)) as client:
        statuses = [
            client.post("/v1/retrieve", json={"query": "warranty", "collection": "notes"}, headers=headers).status_code
            for _ in range(3)
        ]
    assert statuses == [200, 200, 429]


def test_a_body_that_does_not_arrive_is_given_up() -> None:
    client = Sender()
    asyncio.run(BodyLimit(reads, 10, timeout_s=0.01)(scope_of("/v1/query"), client.receive, client.send))
    assert (client.status, client.closes) == (408, True)


def test_a_body_that_trickles_is_given_up_by_the_time_of_all_of_it() -> None:
    client = Sender()

    async def trickle() -> Message:
        await asyncio.sleep(0.02)
        return piece(1)

    asyncio.run(BodyLimit(reads, 10_000, timeout_s=0.1)(scope_of("/"), trickle, client.send))
    assert client.status == 408


def test_a_client_that_leaves_in_the_middle_of_its_body_is_sent_nothing() -> None:
    client = Sender(piece(1), {"type": "http.disconnect"})
    asyncio.run(BodyLimit(reads, 10)(scope_of("/v1/query"), client.receive, client.send))
    assert client.sent == []


@pytest.mark.parametrize("promised", ["11", "9" * 30])
def test_a_promise_of_too_much_is_refused_unread(promised: str) -> None:
    client = Sender(piece(1))
    asyncio.run(BodyLimit(reads, 10)(scope_of("/", content_length=promised), client.receive, client.send))
    assert (client.status, client.asked) == (413, 0)


@pytest.mark.parametrize(
    ("headers", "closes"),
    [({"content_length": "100000"}, True), ({"transfer_encoding": "chunked"}, True), ({"content_length": "9"}, False)],
)
def test_a_large_body_that_nobody_read_ends_its_connection(headers: dict[str, str], closes: bool) -> None:
    client = Sender(piece(9))
    asyncio.run(BodyLimit(reads_nothing, 10**6)(scope_of("/", **headers), client.receive, client.send))
    assert client.closes is closes


def test_bodies_in_flight_share_one_budget() -> None:
    budget = BodyBudget(3 * FREE_BYTES)
    limited = BodyLimit(reads, 10**9, timeout_s=5, budget=budget)
    large = [Sender(piece(2 * FREE_BYTES), piece(1, more=False)) for _ in range(5)]
    small = Sender(piece(FREE_BYTES - 1), piece(1, more=False))

    async def all_at_once() -> None:
        gate = asyncio.Event()

        def held(client: Sender) -> Receive:
            async def receive() -> Message:
                if len(client.waiting) == 1:  # everybody has sent a first piece before anybody sends the last
                    await gate.wait()
                return await client.receive()

            return receive

        tasks = [asyncio.create_task(limited(scope_of("/"), held(c), c.send)) for c in (*large, small)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_at_once())
    assert sorted(client.status for client in large) == [200, 200, 429, 429, 429]
    assert small.status == 200
    assert budget.used == 0


def test_a_budget_takes_nothing_it_refuses() -> None:
    budget = BodyBudget(10)
    budget.take(8)
    with pytest.raises(ApiError) as caught:
        budget.take(3)
    assert (caught.value.status, caught.value.code, budget.used) == (429, "too_many_bodies", 8)


@pytest.fixture(scope="module")
def asked(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as client:
        yield client


def test_a_body_of_millions_of_values_is_refused_before_it_is_parsed(asked: TestClient) -> None:
    for body in (
        b'{"claims":[' + b"{}," * MOST_VALUES + b"{}]}",
        b'{"claims":' + b"[" * (MOST_VALUES + 5) + b"]" * (MOST_VALUES + 5) + b"}",
        b"{" + b",".join(b'"k%d":0' % n for n in range(MOST_VALUES // 2 + 2)) + b"}",
    ):
        assert error_code(asked.post("/v1/verify", content=body, headers=JSON), 413) == "body_too_large"


def test_long_texts_full_of_marks_are_few_values() -> None:
    rng = random.Random(4)
    for _ in range(20):
        text = "".join(rng.choices('a,:[{"\\}]\n é', k=rng.randrange(1, 3000)))
        value = {"claims": [{"claim": text, "n": [1, 2, {"x": text}]}], text: None}
        body = json.dumps(value, separators=(",", ":"), ensure_ascii=rng.random() < 0.5).encode()
        # { : [ { : , : [ , , { : ] } , :  are outside of the texts
        assert count_marks(body) == 14, text


def test_marks_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    body = json.dumps([{"a\\": '\\\\"",,::', "b": "\\"}, '\\\\\\"', [1, 2]] * 50).encode()
    full = count_marks(body)
    for size in (1, 2, 3, 7, rng.randrange(8, 200)):
        monkeypatch.setattr("app.service.http.json_body._BLOCK", size)
        assert count_marks(body) == full, size


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"claims":' + b"[" * 60_000, 400, "invalid_json"),
        (b'{"claims":' + b"9" * 60_000 + b"}", 400, "invalid_json"),
        (b'{"claims":"' + b"\xff" * 60_000 + b'"}', 400, "invalid_json"),
        (b" " * 60_000, 400, "invalid_json"),
        (b"{" + b",".join(b'"k%d":0' % n for n in range(9000)) + b"}", 422, "invalid_value"),
        (b'{"claims":[' + b",".join(b'{"k%d":0}' % n for n in range(9000)) + b"]}", 422, "invalid_value"),
    ],
)
def test_large_bad_bodies_are_refused_as_small_ones(asked: TestClient, body: bytes, status: int, code: str) -> None:
    assert len(body) > LARGE_BYTES
    assert error_code(asked.post("/v1/verify", content=body, headers=JSON), status) == code


def test_a_large_good_body_is_answered(asked: TestClient) -> None:
    evidence = "The warranty of the Heron 4 lasts for three years, or so: [not batteries]. " * 1000
    body = {"claims": [{"claim": "The warranty lasts for three years.", "evidence": [evidence[:70_000]]}]}
    reply = asked.post("/v1/retrieve", json={"query": "warranty " * 2000, "collection": "notes"})
    assert reply.status_code == 200, reply.text
    assert len(json.dumps(body)) > LARGE_BYTES
    wrong = {"claims": [{**body["claims"][0], "unknown": 1}]}
    found = asked.post("/v1/verify", json=wrong)
    assert error_code(found, 422) == "invalid_value"
    assert found.json()["error"]["param"] == "claims.0.unknown"
