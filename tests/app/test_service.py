"""The REST API from a client's view, on a small real pipeline."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.api.schemas import QueryReply
from app.service.application import body_limit, create_app
from app.settings import Settings

QUESTION = "How long is the warranty of the Heron 4?"


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline)) as opened:
        yield opened


def error_of(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text[:500]
    assert response.headers["x-request-id"]
    body = response.json()
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert (body["error"]["type"] == "server_error") == (status >= 500)
    return dict(body["error"])


def test_a_query_is_answered_with_its_sources(client: TestClient) -> None:
    response = client.post("/v1/query", json={"question": QUESTION, "n": 2, "temperature": 0.7, "k": 2})
    assert response.status_code == 200, response.text[:500]
    body = response.json()
    QueryReply.model_validate(body)
    assert body["collection"] == "notes"
    assert len(body["answers"]) == 2
    assert body["sources"][0]["document_id"] == "warranty"
    assert [source["rank"] for source in body["sources"]] == [1, 2]
    again = client.post("/v1/query", json={"question": QUESTION, "n": 2, "temperature": 0.7, "k": 2}).json()
    assert again["answers"] == body["answers"]


def test_citations_are_annotated(make_pipeline: Any, small_settings: Settings, first_words: Any) -> None:
    with TestClient(create_app(make_pipeline(small_settings, first_words()))) as client:
        body = client.post("/v1/query", json={"question": QUESTION}).json()
    answer = body["answers"][0]
    assert answer["text"] == "The warranty of [1]"
    (annotation,) = answer["annotations"]
    assert answer["text"][annotation["start"] : annotation["end"]] == "[1]"
    assert annotation["document_id"] == body["sources"][0]["document_id"] == "warranty"
    assert body["sources"][2]["number"] is None  # did not fit


def test_without_retrieval_nothing_is_searched(client: TestClient) -> None:
    body = client.post("/v1/query", json={"question": QUESTION, "retrieval": False}).json()
    assert body["sources"] == []
    assert body["collection"] is body["generation"] is None


@pytest.mark.parametrize(
    ("fields", "param", "says"),
    [
        ({"question": ""}, "question", "1"),
        ({"question": "  \n"}, "question", "question"),
        ({"question": "a\0b"}, "question", "NUL"),
        ({"question": 7}, "question", "string"),
        ({"k": 0}, "k", "k 0"),
        ({"k": "4"}, "k", "integer"),
        ({"k": True}, "k", "integer"),
        ({"mode": "both"}, "mode", "'hybrid'"),
        ({"fusion": "sum"}, "fusion", "'minmax'"),
        ({"temperature": -1}, "temperature", "temperature -1"),
        ({"temperature": None}, "temperature", "number"),
        ({"top_k": 0}, "top_k", "top_k 0"),
        ({"top_k": 10**30}, "top_k", "top_k 1000"),
        ({"top_p": 1.5}, "top_p", "top_p 1.5"),
        ({"top_p": 0}, "top_p", "top_p 0"),
        ({"max_tokens": 0}, "max_tokens", "max_tokens 0"),
        ({"max_tokens": 512}, "max_tokens", "512"),
        ({"stop": "end"}, "stop", "list"),
        ({"stop": [""]}, "stop.0", "1"),
        ({"stop": ["a"] * 17}, "stop", "16"),
        ({"n": 0}, "n", "n 0"),
        ({"n": 33}, "n", "32"),
        ({"seed": -1}, "seed", "seed -1"),
        ({"seed": 2**63}, "seed", "seed"),
        ({"temprature": 1}, "temprature", ""),
        ({"question": "x" * 20_001}, "question", "20001"),
        ({"question": "word " * 600}, "question", "question"),
    ],
)
def test_a_value_that_cannot_be_used_is_422(client: TestClient, fields: dict[str, Any], param: str, says: str) -> None:
    error = error_of(client.post("/v1/query", json={"question": QUESTION, **fields}), 422)
    assert error["param"] == param
    assert all(word in error["message"] for word in says.split())


@pytest.mark.parametrize(
    "body", ["{", "", " ", '{"question": "a"} x', "nonsense", b'{"question": "\xff"}', "[" * 100_000]
)
def test_what_is_not_json_is_400(client: TestClient, body: str | bytes) -> None:
    error_of(client.post("/v1/query", content=body, headers={"Content-Type": "application/json"}), 400)


@pytest.mark.parametrize(
    "body", ["[]", "3", "null", '{"question": "a", "temperature": NaN}', '{"question": "\\ud800"}']
)
def test_json_that_is_no_query_is_422(client: TestClient, body: str) -> None:
    error_of(client.post("/v1/query", content=body, headers={"Content-Type": "application/json"}), 422)


@pytest.mark.parametrize("temperature", [1e-300, 100])
def test_extreme_temperatures_are_answered(client: TestClient, temperature: float) -> None:
    body = {"question": QUESTION, "temperature": temperature, "top_k": 2**31 - 1, "top_p": 1e-300, "max_tokens": 3}
    assert client.post("/v1/query", json=body).status_code == 200


def test_an_unknown_collection_is_404_and_the_known_ones_are_named(client: TestClient) -> None:
    for retrieval in (True, False):
        body = {"question": QUESTION, "collection": "nots", "retrieval": retrieval}
        error = error_of(client.post("/v1/query", json=body), 404)
        assert error["code"] == "collection_not_found"
        assert "notes" in error["message"]


def test_paths_and_methods_that_are_not_there(client: TestClient) -> None:
    assert error_of(client.get("/v2/query"), 404)["code"] == "not_found"
    assert error_of(client.get("/docs"), 404)
    assert error_of(client.get("/redoc"), 404)
    refused = client.get("/v1/query")
    assert error_of(refused, 405)["code"] == "method_not_allowed"
    assert refused.headers["allow"] == "POST"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", None])
def test_another_content_type_is_415(client: TestClient, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    error_of(client.post("/v1/query", content=json.dumps({"question": QUESTION}), headers=headers), 415)


def test_a_charset_may_be_named(client: TestClient) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    body = json.dumps({"question": QUESTION, "retrieval": False, "max_tokens": 1})
    assert client.post("/v1/query", content=body, headers=headers).status_code == 200


def test_a_body_too_large_is_413_whatever_it_promised(client: TestClient, small_settings: Settings) -> None:
    limit = body_limit(small_settings)
    sent = 0

    def stream() -> Iterator[bytes]:  # no Content-Length: sent in pieces
        nonlocal sent
        while sent < 3 * limit:
            sent += 65_536
            yield b" " * 65_536

    headers = {"Content-Type": "application/json"}
    assert error_of(client.post("/v1/query", content=stream(), headers=headers), 413)["code"] == "body_too_large"
    error_of(client.post("/v1/query", content=b" " * (limit + 1), headers=headers), 413)


def test_the_longest_good_question_is_not_too_large(client: TestClient) -> None:
    # Twelve bytes a character as JSON; one unknown word for the reader, so that it has room for it.
    body = json.dumps({"question": "\U0001f600" * 20_000, "retrieval": False, "max_tokens": 1})
    assert client.post("/v1/query", content=body, headers={"Content-Type": "application/json"}).status_code == 200


@pytest.mark.parametrize(("given", "kept"), [("abc-1.2_Z", True), ("x" * 65, False), ("a b", False), ("", False)])
def test_request_ids(client: TestClient, given: str, kept: bool) -> None:
    for path in ("/livez", "/nowhere"):
        back = client.get(path, headers={"X-Request-Id": given}).headers["x-request-id"]
        assert (back == given) is kept
        assert back


def test_collections_are_listed(client: TestClient) -> None:
    body = client.get("/v1/collections").json()
    assert body["object"] == "list"
    (notes,) = body["data"]
    assert (notes["name"], notes["documents"], len(notes["generation"])) == ("notes", 3, 64)


def test_openapi_is_complete_and_loads_nothing(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    own = {"/v1/query", "/v1/collections", "/livez", "/readyz", "/metrics"}
    assert set(schema["paths"]) >= {*own, "/v1/chat/completions", "/v1/models", "/v1/models/{model}"}
    query = schema["paths"]["/v1/query"]["post"]
    assert set(query["responses"]) == {
        *("200", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "500", "503")
    }
    assert "text/event-stream" in query["responses"]["200"]["content"]
    assert query["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/QueryBody")
    schemas = schema["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    assert set(schemas["QueryBody"]["properties"]) >= {"question", "collection", "retrieval", "temperature", "seed"}
    QueryReply.model_validate(schemas["QueryReply"]["examples"][0])
    source = schemas["QueryReply"]["examples"][0]["sources"][0]
    assert source["end"] - source["start"] == len(source["text"]) == source["shown_characters"]


def test_an_unexpected_error_says_nothing_of_itself(
    make_pipeline: Any, small_settings: Settings, first_words: Any, caplog: pytest.LogCaptureFixture
) -> None:
    broken = make_pipeline(small_settings, first_words(ZeroDivisionError(f"secret {QUESTION}")))
    with TestClient(create_app(broken)) as client, caplog.at_level(logging.INFO):
        response = client.post("/v1/query", json={"question": QUESTION}, headers={"X-Request-Id": "lost-1"})
    error = error_of(response, 500)
    assert error["code"] == "internal_error"
    assert "lost-1" in error["message"]
    assert "ZeroDivisionError" not in response.text
    assert "ZeroDivisionError" in caplog.text  # for whoever runs the service
    assert "secret" not in caplog.text
    assert "Heron" not in caplog.text


def test_the_access_log_has_ids_and_no_questions(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="plumbline"):
        client.post("/v1/query?q=Heron", json={"question": QUESTION}, headers={"X-Request-Id": "r-7"})
        client.get("/a%0Ab")
    lines = [record.getMessage() for record in caplog.records if record.name == "plumbline.service"]
    assert lines[0].startswith("r-7 POST /v1/query 200 ")
    assert "/a%0Ab 404" in lines[1]
    assert "Heron" not in caplog.text


def test_a_full_queue_refuses_at_once(
    make_pipeline: Any, make_settings: Callable[..., Settings], small_home: Any, first_words: Any
) -> None:
    generator = first_words()
    generator.released.clear()
    pipeline = make_pipeline(make_settings(small_home, max_active=1, max_queue=1), generator)
    with TestClient(create_app(pipeline)) as client, ThreadPoolExecutor(6) as threads:
        admission = client.app.state.answering.admission  # type: ignore[attr-defined]

        def ask(number: int) -> Any:
            return client.post("/v1/query", json={"question": QUESTION, "seed": number})

        try:
            jobs = [threads.submit(ask, number) for number in range(6)]
            # Four of the six are answered while the generator still holds the first: they were refused, not queued.
            refused = list(islice(as_completed(jobs, timeout=120), 4))
            assert generator.started.wait(timeout=120)
            assert (admission.active, admission.waiting) == (1, 1)
        finally:
            generator.released.set()
        statuses = sorted(job.result().status_code for job in jobs)
    assert statuses == [200, 200, 429, 429, 429, 429]
    for job in refused:
        assert error_of(job.result(), 429)["code"] == "queue_full"
        assert int(job.result().headers["retry-after"]) >= 1


def test_twenty_at_once_get_their_own_answers(make_pipeline: Any, small_settings: Settings, first_words: Any) -> None:
    with (
        TestClient(create_app(make_pipeline(small_settings, first_words()))) as client,
        ThreadPoolExecutor(20) as threads,
    ):

        def ask(number: int) -> Any:
            return client.post("/v1/query", json={"question": f"{QUESTION} {number}", "seed": number})

        bodies = [response.json() for response in threads.map(ask, range(20))]
    assert [body["question"] for body in bodies] == [f"{QUESTION} {number}" for number in range(20)]
    assert [body["answers"][0]["seed"] for body in bodies] == list(range(20))


def test_other_host_names_are_refused_where_no_key_protects(small_pipeline: Pipeline) -> None:
    app = create_app(small_pipeline, allowed_hosts=("localhost", "127.0.0.1", "[::1]"))
    with TestClient(app, base_url="http://rebound.example") as client:
        assert error_of(client.get("/livez"), 403)["code"] == "host_not_allowed"
        for host in ("localhost:8000", "LOCALHOST", "127.0.0.1:8000", "[::1]:8000", "[::1]"):
            assert client.get("/livez", headers={"Host": host}).status_code == 200
