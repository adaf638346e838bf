"""The pages of collections and evaluations, parsed as HTML. A real worker runs the jobs."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from app.accounts.keys import KeyStore
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app
from tests.app.page_checks import check_page

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)> & "quoted"'


def work(pipeline: Pipeline) -> None:
    while Worker(pipeline).run_one():
        pass


def test_a_collection_is_made_filled_and_deleted_with_forms_alone(client: TestClient, pipeline: Pipeline) -> None:
    assert "notes" in check_page(client.get("/collections"))
    made = client.post("/collections", data={"name": "house"}, follow_redirects=False)
    assert (made.status_code, made.headers["location"]) == (303, "/collections/house")
    html = check_page(client.get("/collections/house"))
    key = re.search(r'name="key" value="([^"]+)"', html)
    assert key is not None
    files = [("files", ("a.txt", HOSTILE)), ("files", ("<b>.exe", "MZ")), ("files", ("b.md", f"# {HOSTILE}\n\nText."))]
    for _ in range(2):  # a double click
        sent = client.post("/collections/house/documents", files=files, data={"key": key[1]}, follow_redirects=False)
        assert sent.status_code == 303, sent.text[:500]
    html = check_page(client.get("/collections/house"))
    assert "data-following" in html
    assert html.count("Waiting for a worker") == 1
    work(pipeline)
    html = check_page(client.get("/collections/house"))
    assert "data-following" not in html
    assert "Added 2, changed 0" in html
    assert "<script>alert" not in html
    assert "&lt;b&gt;.exe" in html  # refused, with the reason
    assert client.post("/collections/house/remove", data={"document": "a.txt"}).status_code == 200
    work(pipeline)
    assert "a.txt" not in check_page(client.get("/collections/house"))
    assert "tick the box" in check_page(client.post("/collections/house/delete", data={"sure": ""}), 422)
    assert "house" not in check_page(client.post("/collections/house/delete", data={"sure": "yes"}))


def test_a_job_is_cancelled_and_tried_again_from_its_page(client: TestClient, pipeline: Pipeline) -> None:
    client.post("/collections/notes/documents", files=[("files", ("a.txt", "Words."))])
    (job,) = client.get("/v1/jobs").json()["data"]
    back = {"back": "/collections/notes"}
    shown = client.post(f"/jobs/{job['id']}/cancel", data=back, follow_redirects=False)
    assert shown.headers["location"] == "/collections/notes"
    assert "cancelled" in check_page(client.get("/collections/notes"))
    for bad in ("//evil.example", "https://evil.example", "/collections//evil.example", "javascript:x"):
        left = client.post(f"/jobs/{job['id']}/cancel", data={"back": bad}, follow_redirects=False)
        assert left.headers["location"] == "/"
    client.post(f"/jobs/{job['id']}/retry", data=back)
    work(pipeline)
    assert "succeeded" in check_page(client.get("/collections/notes"))
    assert client.post(f"/jobs/{job['id']}/explode", data=back).status_code == 404


def test_errors_are_shown_on_the_page(client: TestClient) -> None:
    assert "cannot name a collection" in check_page(client.post("/collections", data={"name": "a/b"}), 422)
    assert "already" in check_page(client.post("/collections", data={"name": "notes"}), 409)
    html = check_page(client.post("/collections/notes/documents", files=[("files", ("../x.txt", "y"))]), 422)
    assert "it leaves its folder" in html
    assert client.get("/collections/nothing").status_code == 404
    foreign = client.post("/collections", data={"name": "x"}, headers={"Origin": "http://evil.example"})
    assert "another site" in check_page(foreign, 403)


def test_an_evaluation_is_started_watched_and_compared(client: TestClient, pipeline: Pipeline) -> None:
    line = '{"id": "q1", "text": "How long is the warranty?", "references": ["three years"]}\n'
    start = {"collection": "notes", "samples": "1", "arms": ["rag", "closed_book"]}
    for name in ("first", "second"):
        files = {"questions": ("q.jsonl", line.replace("q1", name))}
        sent = client.post("/evaluations", data={**start, "name": name}, files=files, follow_redirects=False)
        assert sent.status_code == 303, sent.text[:500]
    assert "data-following" in check_page(client.get("/evaluations"))
    work(pipeline)
    html = check_page(client.get("/evaluations"))
    assert "data-following" not in html
    runs = re.findall(r'href="/evaluations/([0-9a-f]{16})">(?:first|second)<', html)
    assert len(set(runs)) == 2
    shown = check_page(client.get(f"/evaluations/{runs[0]}"))
    assert "closed_book" in shown
    assert re.search(r"\d+\.\d %", shown)
    report = client.get(f"/v1/evaluations/{runs[0]}/report")
    assert report.status_code == 200
    assert "<title>" in report.text
    compared = client.get("/evaluations/compare", params={"one": runs[0], "other": runs[1]})
    assert "share no question" in check_page(compared, 409)
    assert "choose two runs" in check_page(client.get("/evaluations/compare", params={"one": runs[0]}), 422)
    bad = client.post("/evaluations", data=start, files={"questions": ("q.jsonl", "{")})
    assert "not JSON" in check_page(bad, 422)
    assert "samples" in check_page(client.post("/evaluations", data={**start, "samples": "0"}, files={"x": b""}), 422)


def test_a_refused_evaluation_leaves_the_form_as_it_was_filled_in(client: TestClient, pipeline: Pipeline) -> None:
    for name in ("first", "second"):
        client.post("/collections", data={"name": name})
    typed = {"name": 'A "quoted" <b>name</b>', "collection": "second", "samples": "0", "limit": "7", "arms": ["rag"]}
    html = check_page(client.post("/evaluations", data=typed, files={"x": b""}), 422)
    assert 'value="A &#34;quoted&#34; &lt;b&gt;name&lt;/b&gt;"' in html
    assert "<option selected>second</option>" in html and "<option>first</option>" in html
    assert re.search(r'name="samples"[^>]* value="0"', html) and re.search(r'name="limit"[^>]* value="7"', html)
    assert re.findall(r'name="arms" value="(\w+)" checked', html) == ["rag"]
    fresh = check_page(client.get("/evaluations"))
    assert re.findall(r'name="arms" value="(\w+)" checked', fresh) == ["rag", "oracle"]
    assert "closed_book is left out" in fresh  # the model is a reader
    assert re.search(r'name="samples"[^>]* value="1"', fresh) and "selected" not in fresh


def test_a_browser_without_a_key_is_sent_to_log_in(pipeline: Pipeline) -> None:
    made = KeyStore(pipeline.store).create("alice", ["query"], tenant="acme")
    with TestClient(create_app(pipeline, require_key=True)) as client:
        sent = client.get("/collections", headers={"Accept": "text/html"}, follow_redirects=False)
        assert (sent.status_code, sent.headers["location"]) == (303, "/login")
        assert client.get("/collections", headers={"Accept": "application/json"}).status_code == 401
        check_page(client.get("/login"))
        for wrong in ("", "pl-nonsense", "sk-123", made.secret + "x"):
            check_page(client.post("/login", data={"key": wrong}), 401)
        entered = client.post("/login", data={"key": made.secret}, follow_redirects=False)
        assert entered.status_code == 303
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        html = check_page(client.get("/collections"))
        assert "alice" in html
        assert "New collection" not in html  # the key may only ask
        assert client.post("/collections", data={"name": "x"}).status_code == 403
        client.post("/logout", data={"now": "yes"})
        assert client.get("/collections").status_code == 401
