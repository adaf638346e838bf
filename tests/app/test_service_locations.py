"""Locations of sources as text, in all endpoints and on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.application import create_app
from data.documents import Document
from data.outline import Outline
from tests.app.collection_calls import done, upload

LEAVE = "# Leave\n\n## Notice\n\nThe notice period is six weeks.\n"
ASKED = {"question": "How long is the notice period?", "collection": "house"}


@pytest.fixture
def client(make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any) -> Iterator[TestClient]:
    pipeline: Pipeline = make_pipeline(make_settings(home_copy), first_words())
    with TestClient(create_app(pipeline)) as opened:
        opened.post("/v1/collections", json={"name": "house"})
        done(opened, pipeline, upload(opened, "house", {"leave.md": LEAVE}))
        pipeline.index("facts", [Document("bare", "", "The notice period is a week.", outline=Outline(first_line=0))])
        yield opened


def test_place_of_a_source(client: TestClient) -> None:
    (source,) = client.post("/v1/query", json=ASKED).json()["sources"]
    assert source["place"] == "Notice, lines 3-5"
    stream = client.post("/v1/query", json={**ASKED, "stream": True}).text
    first = json.loads(stream.partition("data: ")[2].partition("\n")[0])
    assert first["sources"] == [source]
    found = client.post("/v1/retrieve", json={"query": ASKED["question"], "collection": "house"}).json()
    assert found["data"][0]["place"] == source["place"]
    chat = {"model": "house", "messages": [{"role": "user", "content": ASKED["question"]}]}
    reply = client.post("/v1/chat/completions", json=chat).json()
    (annotation,) = reply["choices"][0]["message"]["annotations"]
    assert annotation["place"] == reply["sources"][0]["place"] == source["place"]
    assert "leave.md, Notice, lines 3-5" in client.post("/", data=ASKED).text


def test_a_document_of_which_no_place_is_known_has_none(client: TestClient) -> None:
    reply = client.post("/v1/query", json={**ASKED, "collection": "facts"}).json()
    assert {source["place"] for source in reply["sources"]} == {""}
    page = client.post("/", data={**ASKED, "collection": "facts"}).text
    assert "characters 0 to" in page
