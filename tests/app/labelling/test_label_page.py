"""The labelling page: commits, escaping, and access."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.errors import AppError
from app.labelling.draws import DrawRequest, open_draw
from app.labelling.page import label_app
from app.labelling.sessions import LabelSession
from app.local_pages import loopback_socket
from app.pipeline import Pipeline

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def session(world: Any) -> Iterator[LabelSession]:
    run_id = world.store()
    with Pipeline(world.settings()) as pipeline:
        yield LabelSession(pipeline.store, open_draw(pipeline, run_id, DrawRequest(120, seed=1)), "ann <b>")


@pytest.fixture
def client(session: LabelSession) -> TestClient:
    return TestClient(label_app(session), base_url="http://127.0.0.1:8000", follow_redirects=False)


def test_labels_are_committed_one_by_one_and_the_page_goes_on(client: TestClient, session: LabelSession) -> None:
    assert client.get("/").headers["location"] == "/item/1"
    page = client.get("/item/1")
    assert page.status_code == 200 and "1 of 240" in page.text and 'id="back"' not in page.text
    given = client.post("/item/1", data={"label": "h"})
    assert (given.status_code, given.headers["location"]) == (303, "/item/2")
    assert session.own() == {session.items[0].key: "hallucinated"}
    assert client.get("/").headers["location"] == "/item/2"
    again = client.get("/item/1").text
    assert re.findall(r'data-key="(.)" aria-pressed="true"', again) == ["h"]
    client.post("/item/1", data={"label": "s"})
    assert session.own() == {session.items[0].key: "supported"}
    last = len(session.items)
    assert client.post(f"/item/{last}", data={"label": "u"}).headers["location"] == "/done"
    done = client.get("/done").text
    assert "Not done yet" in done and 'href="/item/2"' in done and "ann &lt;b&gt;" in done


def test_every_item_is_blind_and_escaped(client: TestClient, session: LabelSession) -> None:
    pages = [client.get(f"/item/{n}") for n in range(1, len(session.items) + 1)]
    hostile = [p.text for p in pages if "&lt;script&gt;alert(1)" in p.text]
    assert len(hostile) == 2 and all("\ufffd[2J" in text for text in hostile)
    for page in pages:
        # The nonce is random, and its letters may spell anything, "rag" among them: it is no part of what is shown.
        drawn = re.search(r"script-src 'nonce-([^']+)'", page.headers["content-security-policy"])
        assert drawn is not None
        body = page.text.replace(drawn[1], "")
        assert "<script>alert" not in body and "\x1b" not in body and "[1]" not in body
        assert "rag" not in body.partition("<main>")[2] and "closed_book" not in body
        assert len(re.findall("<script", body)) == 1 and "http" not in body.partition("<body>")[2]
    policy = pages[0].headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)
    assert nonce is not None and f'<script nonce="{nonce[1]}">' in pages[0].text
    assert "default-src 'none'" in policy and nonce[1] not in pages[1].text


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    [
        ("/item/1", FORM | {"origin": "http://evil.example"}, "label=h", 403),
        ("/item/1", FORM | {"sec-fetch-site": "cross-site"}, "label=h", 403),
        ("/item/1", FORM | {"host": "evil.example"}, "label=h", 403),
        ("/item/1", {"content-type": "application/json"}, '{"label": "h"}', 415),
        ("/item/1", FORM, "label=perhaps", 400),
        ("/item/1", FORM, "", 400),
        ("/item/1", FORM, "label=%ff", 400),
        ("/item/1", FORM, "label=h&x=" + "y" * 5000, 413),
        ("/item/0", FORM, "label=h", 404),
        ("/item/241", FORM, "label=h", 404),
    ],
)
def test_what_is_no_label_of_this_page_changes_nothing(
    client: TestClient, session: LabelSession, path: str, headers: dict[str, str], body: str, status: int
) -> None:
    found = client.post(path, content=body, headers=headers)
    assert found.status_code == status and 'role="alert"' in found.text and not session.own()


def test_another_host_name_sees_nothing(client: TestClient) -> None:
    found = client.get("/item/1", headers={"host": "evil.example:8000"})
    assert found.status_code == 403 and "Accepted answers" not in found.text
    assert client.get("/item/1", headers={"host": "localhost:8000"}).status_code == 200


def test_an_adjudicator_sees_only_what_is_disputed(world: Any) -> None:
    run_id = world.store()
    with Pipeline(world.settings()) as pipeline:
        drawn = open_draw(pipeline, run_id, DrawRequest(10))
        ann, bo = (LabelSession(pipeline.store, drawn, name) for name in ("ann", "bo"))
        for item in ann.items:
            ann.label(item, "supported")
        bo.label(bo.items[3], "hallucinated")
        judge = LabelSession(pipeline.store, drawn, "cy", adjudicate=True)
        assert [item.key for item in judge.items] == [ann.items[3].key]
        client = TestClient(label_app(judge), base_url="http://localhost", follow_redirects=False)
        assert "Settle disagreements" in client.get("/item/1").text
        assert client.post("/item/1", data={"label": "h"}).headers["location"] == "/done"
        assert "All done" in client.get("/done").text
        assert judge.progress().outcomes[ann.items[3].key] == "hallucinated"
        nothing = LabelSession(pipeline.store, drawn, "di", adjudicate=True)
        empty = TestClient(label_app(nothing), base_url="http://localhost")
        assert "Annotators agree" in empty.get("/").text


def test_the_port_is_of_this_machine_only_and_a_taken_one_is_named() -> None:
    with loopback_socket(0) as one:
        assert one.getsockname()[0] == "127.0.0.1"
        with pytest.raises(AppError, match="--port"):
            loopback_socket(one.getsockname()[1])
