"""Labelling on the service's pages: several annotators, hidden arm and verdict, and no access for other tenants."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.accounts.keys import KeyStore
from app.accounts.tenants import create_tenant_collection
from app.labelling.draws import DrawRequest, open_draw
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.http.access import Caller
from app.service.pages.label_desk import own_documents
from evaluation.runs.run_store import RunStore
from tests.app.page_checks import check_page


@pytest.fixture
def run_id(world: Any) -> str:
    return str(world.store())


@pytest.fixture
def pipeline(make_pipeline: Any, world: Any, run_id: str, first_words: Any) -> Pipeline:
    found = make_pipeline(world.settings(), first_words())
    assert isinstance(found, Pipeline)
    return found


@pytest.fixture
def client(pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(pipeline), follow_redirects=False) as opened:
        yield opened


def draw(client: TestClient, run_id: str, questions: int = 6) -> str:
    """Return the URL at which ann continues labelling."""
    sent = client.post(f"/evaluations/{run_id}/label", data={"questions": str(questions)})
    assert (sent.status_code, sent.headers["location"]) == (303, f"/evaluations/{run_id}/label")
    return f"/evaluations/{run_id}/label/next?annotator=ann"


def follow(client: TestClient, address: str) -> str:
    found = client.get(address)
    assert found.status_code == 303, found.text[:500]
    return str(found.headers["location"])


def session(pipeline: Pipeline, run_id: str, annotator: str) -> LabelSession:
    """Return the session as the command line opens it."""
    return LabelSession(pipeline.store, open_draw(pipeline, run_id, DrawRequest()), annotator)


@pytest.mark.drill
def test_from_the_run_to_the_last_label(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    html = check_page(client.get("/evaluations"))
    assert f'href="/evaluations/{run_id}/label"' in html
    assert f'href="/evaluations/{run_id}/label"' in check_page(client.get(f"/evaluations/{run_id}"))
    assert "Draw answers to label</button>" in check_page(client.get(f"/evaluations/{run_id}/label"))
    first = follow(client, draw(client, run_id))
    seen = []
    address = first
    for number in range(1, 13):
        html = check_page(client.get(address))
        assert f"Question {number} of 12" in html
        assert ('id="back"' in html) == (number > 1)
        seen.append(address)
        sent = client.post(address, data={"label": "shau"[number % 4]})
        assert sent.status_code == 303
        address = sent.headers["location"]
    assert address == f"/evaluations/{run_id}/label?annotator=ann"
    html = check_page(client.get(address))
    assert "12 of 12 answers have a label" in html
    assert f"/v1/evaluations/{run_id}/report" in html
    assert len(set(seen)) == 12
    mine = session(pipeline, run_id, "ann")
    assert [mine.own()[item.key] for item in mine.items[:4]] == ["hallucinated", "abstained", "unscored", "supported"]
    assert "corrected" in client.get(f"/v1/evaluations/{run_id}/report").text
    # A changed mind takes the label's place; a double click changes nothing.
    for _ in range(2):
        assert client.post(first, data={"label": "s"}).headers["location"] == seen[1]
    assert re.findall(r'data-key="(.)" aria-pressed="true"', client.get(first).text) == ["s"]
    assert session(pipeline, run_id, "ann").own()[mine.items[0].key] == "supported"


@pytest.mark.drill
def test_answers_are_shown_blind_and_escaped(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    address = follow(client, draw(client, run_id, 120))
    hostile = 0
    for item in session(pipeline, run_id, "ann").items:
        body = check_page(client.get(f"/evaluations/{run_id}/label/{item.id}?annotator=ann"))
        shown = body.partition("<main")[2].replace(run_id, "")
        assert "rag" not in shown.partition("<script")[0] and "closed_book" not in body
        assert "[1]" not in shown and "<script>alert" not in body and "\x1b" not in body and "\u202e" not in body
        hostile += "&lt;script&gt;alert(1)" in shown
    assert hostile == 2
    assert address.startswith(f"/evaluations/{run_id}/label/")


def test_several_people_disagree_and_somebody_settles_it(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    draw(client, run_id, 4)
    items = session(pipeline, run_id, "ann").items
    for name, letters in (("ann", "ssssssss"), ("bo & co", "sshsssss")):
        for item, letter in zip(items, letters, strict=True):
            client.post(f"/evaluations/{run_id}/label/{item.id}", params={"annotator": name}, data={"label": letter})
    html = check_page(client.get(f"/evaluations/{run_id}/label?annotator=cy"))
    assert "Settle 1 disagreement<" in html
    assert "bo &amp; co" in html
    assert "Cohen&#39;s kappa of ann and bo &amp; co" in html
    settling = {"annotator": "cy", "settle": "yes"}
    only = follow(client, f"/evaluations/{run_id}/label/next?annotator=cy&settle=yes")
    assert only == f"/evaluations/{run_id}/label/{items[2].id}?annotator=cy&settle=yes"
    assert "Settle disagreements" in check_page(client.get(only))
    other = client.get(f"/evaluations/{run_id}/label/{items[0].id}", params=settling)
    assert other.status_code == 404  # nobody differs on it
    assert client.post(only, data={"label": "h"}).status_code == 303
    assert "Settle 1" not in check_page(client.get(f"/evaluations/{run_id}/label"))
    assert session(pipeline, run_id, "ann").progress().outcomes[items[2].key] == "hallucinated"


def test_the_csv_is_the_command_lines(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    address = follow(client, draw(client, run_id, 3))
    client.post(address, data={"label": "a"})
    found = client.get(f"/evaluations/{run_id}/label/labels.csv?annotator=ann")
    assert found.headers["content-disposition"] == f'attachment; filename="labels-{run_id}.csv"'
    rows = list(csv.DictReader(io.StringIO(found.content.decode("utf-8-sig"))))
    items = session(pipeline, run_id, "ann").items
    assert [(row["item"], row["label"]) for row in rows] == [
        (item.id, "abstained" if place == 0 else "") for place, item in enumerate(items)
    ]
    assert "arm" not in rows[0]


def test_more_questions_are_added_behind_the_others(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    address = follow(client, draw(client, run_id, 3))
    client.post(address, data={"label": "s"})
    before = [item.id for item in session(pipeline, run_id, "ann").items]
    draw(client, run_id, 5)
    after = [item.id for item in session(pipeline, run_id, "ann").items]
    assert len(after) == 10 and [one for one in after if one in before] == before
    assert "Question 1 of 10" in check_page(client.get(address))
    for bad in ("1", "121", "many", "9" * 9):
        check_page(client.post(f"/evaluations/{run_id}/label", data={"questions": bad}), 422)
    html = check_page(client.post(f"/evaluations/{run_id}/label", data={"questions": "4", "stratify": "yes"}), 409)
    assert "drawn already" in html
    assert len(session(pipeline, run_id, "ann").items) == 10


def test_what_is_no_label_changes_nothing(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    early = client.get(f"/evaluations/{run_id}/label/next?annotator=ann")
    assert "no questions are drawn yet" in check_page(early, 409)
    address = follow(client, draw(client, run_id, 3))
    nameless = address.partition("?")[0]
    assert "press one of the four buttons" in check_page(client.post(address, data={"label": "x"}), 422)
    assert "fill in your name" in check_page(client.post(nameless, data={"label": "s"}), 422)
    assert "fill in your name" in check_page(client.get(nameless), 422)
    assert "printable" in check_page(client.get(f"{nameless}?annotator=%00"), 422)
    foreign = client.post(address, data={"label": "s"}, headers={"Origin": "http://evil.example"})
    assert "another site" in check_page(foreign, 403)
    assert client.post(address, json={"label": "s"}).status_code == 415
    for unknown in ("0" * 12, "..", "%2e%2e%2f", "labels.csv%00"):
        assert client.post(f"/evaluations/{run_id}/label/{unknown}?annotator=ann", data={"label": "s"}).status_code in (
            404,
            405,
        )
    assert session(pipeline, run_id, "ann").own() == {}


def test_a_run_that_is_not_finished_is_not_labelled(client: TestClient, world: Any) -> None:
    running = world.store("running", name="another")
    assert client.get(f"/evaluations/{running}").text.count("Label answers") == 0
    assert "is not finished (running)" in check_page(client.get(f"/evaluations/{running}/label"))
    assert "is not finished" in check_page(client.post(f"/evaluations/{running}/label", data={"questions": "3"}), 409)


def test_a_key_labels_in_its_own_name_and_its_own_tenants_runs_only(pipeline: Pipeline, run_id: str) -> None:
    keys = KeyStore(pipeline.store)
    secrets = {
        name: keys.create(name, [scope], tenant=tenant).secret
        for name, scope, tenant in (("dora", "evaluate", ""), ("eve", "evaluate", "acme"), ("fay", "query", ""))
    }
    with TestClient(create_app(pipeline, require_key=True), follow_redirects=False) as client:
        sent = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
        place = f"/evaluations/{run_id}/label"
        assert client.get(place).status_code == 401
        assert client.get(place, headers=sent["fay"]).status_code == 403
        assert (
            client.get(place, headers=sent["eve"]).json()
            == client.get("/evaluations/0123456789abcdef/label", headers=sent["eve"]).json()
        )
        assert client.post(place, data={"questions": "3"}, headers=sent["eve"]).status_code == 404
        assert client.post(place, data={"questions": "3"}, headers=sent["dora"]).status_code == 303
        item = client.get(f"{place}/next?annotator=somebody", headers=sent["dora"]).headers["location"]
        assert "annotator" not in item
        assert client.post(item, data={"label": "s"}, headers=sent["eve"]).status_code == 404
        assert client.post(f"{item}?annotator=somebody", data={"label": "s"}, headers=sent["dora"]).status_code == 303
    assert len(session(pipeline, run_id, "dora").own()) == 1
    assert session(pipeline, run_id, "somebody").own() == {}


def test_evidence_is_shown_from_the_tenants_own_collections_only(pipeline: Pipeline, run_id: str) -> None:
    """A stored name that a tenant gave up may belong to another tenant when somebody labels."""
    theirs = create_tenant_collection(pipeline.store, "acme", "notes").stored
    ours = create_tenant_collection(pipeline.store, "", "notes").stored
    info = replace(
        RunStore(pipeline.store).load_run(run_id),
        labels=(("collection", theirs), ("trusted", ours), ("model", theirs)),
    )
    assert own_documents(pipeline, Caller(), info).labels == (("trusted", ours), ("model", theirs))
    assert own_documents(pipeline, Caller("acme"), info).labels == (("collection", theirs), ("model", theirs))


def filled(client: TestClient, run_id: str, letters: str, annotators: str = "") -> bytes:
    """Return the downloaded file with labels in its first lines. annotators: one letter per line."""
    found = client.get(f"/evaluations/{run_id}/label/labels.csv?annotator=ann")
    rows = list(csv.DictReader(io.StringIO(found.content.decode("utf-8-sig"))))
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0], *(["annotator"] if annotators else [])])
    writer.writeheader()
    for place, row in enumerate(rows):
        row["label"] = letters[place] if place < len(letters) else ""
        if annotators:
            row["annotator"] = annotators[place] if place < len(annotators) else ""
        writer.writerow(row)
    return out.getvalue().encode()


def take(client: TestClient, run_id: str, content: bytes, name: str = "labels.csv", **more: Any) -> Any:
    place = f"/evaluations/{run_id}/label/import"
    return client.post(place, files={"file": (name, content)}, data={"annotator": "ann"}, **more)


def test_a_filled_in_file_is_taken(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    draw(client, run_id, 3)
    html = check_page(take(client, run_id, filled(client, run_id, "sha")))
    assert "3 labels of ann were imported from labels.csv; 3 lines without a label were skipped." in html
    assert "3 of 6 answers have a label" in html
    mine = session(pipeline, run_id, "ann")
    assert [mine.own().get(item.key) for item in mine.items[:4]] == ["supported", "hallucinated", "abstained", None]
    html = check_page(take(client, run_id, filled(client, run_id, "sssu", "bb")))
    assert "4 labels of b, ann were imported" in html
    assert session(pipeline, run_id, "b").own()[mine.items[1].key] == "supported"
    assert "Cohen&#39;s kappa" in html


def test_of_a_file_that_cannot_be_nothing_is_taken(client: TestClient, pipeline: Pipeline, run_id: str) -> None:
    early = take(client, run_id, b"item,label\nx,s\n")
    assert "no questions are drawn yet" in check_page(early, 409)
    draw(client, run_id, 3)
    good = filled(client, run_id, "ss")
    bad = {
        good.replace(b",s,", b",maybe,", 1): "maybe",
        good + b"no-such-item,s\n": "no item",
        b"a,b\n1,2\n": "no column",
        b"\xff\xfe": "not UTF-8",
        filled(client, run_id, ""): "has no label",
        b"": "is empty",
    }
    for content, reason in bad.items():
        html = check_page(take(client, run_id, content, name="../<b>.csv"), 422)
        assert reason in html
        assert "&lt;b&gt;.csv" in html and "/tmp" not in html
    assert "choose the file" in check_page(
        client.post(f"/evaluations/{run_id}/label/import?annotator=ann", files={"x": b""}), 422
    )
    foreign = take(client, run_id, good, headers={"Origin": "http://evil.example"})
    assert "another site" in check_page(foreign, 403)
    large = take(client, run_id, b"x" * 17_000_000)
    assert large.status_code == 413
    assert session(pipeline, run_id, "ann").own() == {}


def test_with_a_key_a_file_labels_in_its_name_only(pipeline: Pipeline, run_id: str) -> None:
    keys = KeyStore(pipeline.store)
    given = (("dora", "evaluate", ""), ("eve", "evaluate", "acme"), ("root", "admin", ""))
    secrets = {name: keys.create(name, [scope], tenant=tenant).secret for name, scope, tenant in given}
    with TestClient(create_app(pipeline, require_key=True), follow_redirects=False) as client:
        sent = {name: {"headers": {"Authorization": f"Bearer {secret}"}} for name, secret in secrets.items()}
        client.post(f"/evaluations/{run_id}/label", data={"questions": "3"}, **sent["dora"])
        items = [item.id for item in session(pipeline, run_id, "dora").items]
        others = f"item,label,annotator\n{items[0]},s,somebody\n{items[1]},s,\n".encode()
        own = f"item,label\n{items[0]},s\n".encode()
        assert take(client, run_id, own).status_code == 401
        assert take(client, run_id, own, **sent["eve"]).status_code == 404
        assert "names another annotator" in check_page(take(client, run_id, others, **sent["dora"]), 422)
        assert "1 labels of dora" in check_page(take(client, run_id, own, **sent["dora"]))
        assert "2 labels of somebody, root" in check_page(take(client, run_id, others, **sent["root"]))
    assert len(session(pipeline, run_id, "dora").own()) == 1
    assert session(pipeline, run_id, "ann").own() == {}  # the field of the form is for those without a key
