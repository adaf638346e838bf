"""The page at /: its contents, and that all input is treated as untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.service.application import create_app
from app.service.pages.answer_view import pieces, quoted
from app.settings import Settings


@pytest.fixture
def client(make_pipeline: Any, small_settings: Settings, first_words: Any) -> Iterator[TestClient]:
    with TestClient(create_app(make_pipeline(small_settings, first_words()))) as opened:
        yield opened


def test_the_form(client: TestClient) -> None:
    response = client.get("/")
    assert response.status_code == 200
    assert "<option>notes</option>" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    (nonce,) = set(re.findall(r"'nonce-([^']+)'", policy))
    assert f'<style nonce="{nonce}">' in response.text
    assert not re.search(r"https?://|@import|\bstyle=", response.text)
    assert re.findall(r"<script[^>]*>", response.text) == [f'<script nonce="{nonce}" src="/assets/ask.js" defer>']
    assert f"script-src 'nonce-{nonce}'" in policy
    script = client.get("/assets/ask.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", script.text)


def test_an_answer_links_its_citation_to_the_source(client: TestClient) -> None:
    response = client.post("/", data={"question": "How long is the warranty of the Heron 4?", "collection": "notes"})
    assert response.status_code == 200, response.text
    assert 'The warranty of <a href="#c1-source-1">[1]</a>' in response.text
    assert 'id="c1-source-1"' in response.text
    assert '<mark class="quoted">The warranty of</mark>' in response.text
    assert "cited" in response.text
    assert "did not fit" in response.text


def test_everything_is_escaped(client: TestClient) -> None:
    question = 'the tag "><script>alert(2)</script> on page 7 & friends </textarea>'
    response = client.post("/", data={"question": question, "collection": "notes"})
    assert response.status_code == 200
    assert response.text.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in response.text
    assert "&lt;b&gt;Markup&lt;/b&gt;" in response.text
    assert response.text.count("</textarea>") == 1


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        ({"question": " "}, 422, "the question is empty"),
        ({"question": "x", "collection": "<i>none</i>"}, 404, "&lt;i&gt;none&lt;/i&gt;"),
        ({"question": "x" * 20_001}, 422, "20001 characters"),
    ],
)
def test_errors_are_shown_with_their_status(client: TestClient, data: dict[str, str], status: int, says: str) -> None:
    response = client.post("/", data=data)
    assert response.status_code == status
    assert says in response.text
    assert 'role="alert"' in response.text


def test_a_form_of_another_site_is_refused(client: TestClient) -> None:
    data = {"question": "How long?"}
    assert client.post("/", data=data, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/", data=data, headers={"Origin": "null"}).status_code == 403
    assert client.post("/", data=data, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/", data=data, headers=own).status_code == 200


def test_a_form_that_cannot_be_read(client: TestClient) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/", content=b"question=%ff", headers=headers).status_code == 400
    assert client.post("/", content=b"question=\xff", headers=headers).status_code == 400
    assert client.post("/", content=b"&".join([b"a=1"] * 100), headers=headers).status_code == 400
    assert client.post("/", json={"question": "x"}).status_code == 415


def test_the_model_alone(client: TestClient) -> None:
    response = client.post("/", data={"question": "How long?", "retrieval": "off"})
    assert "I do not know." in response.text
    assert 'value="off" selected' in response.text


def test_both_ways_side_by_side(client: TestClient) -> None:
    response = client.post("/", data={"question": "How long is the warranty?", "retrieval": "both"})
    assert response.status_code == 200
    assert response.text.index("From the documents") < response.text.index("The model alone")
    assert 'value="both" selected' in response.text


def test_pieces_join_to_the_text() -> None:
    text = "a [1] b [2]"
    annotations = [{"number": 2, "start": 8, "end": 11}, {"number": 1, "start": 2, "end": 5}]
    cut = pieces(text, annotations)
    assert "".join(piece.text for piece in cut) == text
    assert [(piece.text, piece.number) for piece in cut] == [("a ", None), ("[1]", 1), (" b ", None), ("[2]", 2)]


def test_unsupported_claims_are_marked_around_their_citations() -> None:
    text = "Good. Bad thing [1]. Fine."
    annotations = [{"number": 1, "start": 16, "end": 19}]
    verdicts = [
        {"start": 0, "end": 5, "label": "supported"},
        {"start": 6, "end": 20, "label": "unverifiable"},
        {"start": 21, "end": 26, "label": "unscored"},
    ]
    cut = pieces(text, annotations, verdicts)
    assert "".join(piece.text for piece in cut) == text
    assert [piece.text for piece in cut if piece.unsupported] == ["Bad thing ", "[1]", "."]
    assert [piece.number for piece in cut if piece.text == "[1]"] == [1]


def test_the_quoted_place_is_the_answers_words_or_the_verdicts_evidence() -> None:
    source = {"number": 1, "document_id": "d", "start": 100, "text": "The Warranty lasts three years. It is free."}
    answer = {"text": "three YEARS [1]", "annotations": [{"number": 1}], "verdicts": None}
    assert quoted(source, [answer]).quote == "three years"
    evidence = [{"document_id": "d", "start": 132, "end": 143}]
    judged = {
        "text": "No cost.",
        "annotations": [],
        "verdicts": [{"label": "supported", "evidence": evidence}, {"label": "unverifiable", "evidence": []}],
    }
    found = quoted(source, [judged])
    assert (found.before + found.quote + found.after, found.quote) == (source["text"], "It is free.")
    other = {**judged, "text": "No cost [2].", "annotations": [{"number": 2}]}
    assert quoted(source, [other]).quote == ""
    elsewhere = {**judged, "verdicts": [{"label": "supported", "evidence": [{**evidence[0], "document_id": "e"}]}]}
    assert quoted(source, [elsewhere]).quote == ""
