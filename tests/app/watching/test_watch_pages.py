"""The watch page, and labelling of audits on the service's pages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.accounts.keys import KeyStore
from app.accounts.tenants import tenant_collections
from app.service.application import create_app
from app.service.pages.watch_chart import HEIGHT, WIDTH, watch_chart
from app.watching.status import Watching
from evaluation.audits.audit_store import AuditStore
from tests.app.page_checks import check_page

HOSTILE = '<script>alert(1)</script> & "quotes"'


@pytest.fixture
def client(watched: Any) -> Iterator[TestClient]:
    with TestClient(create_app(watched.line), follow_redirects=False) as opened:
        yield opened


def labels(watched: Any) -> list[tuple[str, str]]:
    return [(one.annotator, one.label) for one in AuditStore(watched.line.store).labels("notes")]


def test_an_empty_watch_says_how_to_begin(client: TestClient) -> None:
    html = check_page(client.get("/watch"))
    assert "--audit-rate 0.05" in html and "never renews" in html and 'aria-current="page">Watch' in html


def test_the_page_shows_rates_alarms_and_a_chart(client: TestClient, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 20, "supported")
    quiet = check_page(client.get("/watch"))
    assert "No alarm is raised" in quiet and certificate.id in quiet and "<polyline" in quiet
    watched.audit(certificate.id, ["q"] * 12, "hallucinated")
    watched.audit("", ["q"] * 2)
    html = check_page(client.get("/watch"))
    assert "1 alarm is raised" in html and "Alarm: the rate exceeds the certified one" in html
    assert "2 answers wait for a label" in html and "Answers without a certificate" in html
    assert 'class="alpha"' in html and 'class="raised"' in html
    assert len(re.findall("<polyline", html)) == 1  # no chart without labels


def test_points_of_the_chart_stay_inside_it(watched: Any) -> None:
    certificate = watched.certify()
    for label, count in (("supported", 200), ("hallucinated", 60)):
        watched.audit(certificate.id, ["q"] * count, label)
    (one,) = Watching(watched.line).status(tenant_collections(watched.line.store, ""))
    chart = watch_chart(one.watches[0])
    assert chart is not None and one.watches[0].reading.watch.changed
    points = [tuple(map(float, point.split(","))) for point in (chart.band + " " + chart.line).split()]
    assert 100 < len(points) < 500
    assert all(48 <= x <= WIDTH - 12 and 12 <= y <= HEIGHT - 28 for x, y in points)


def test_void_certificates_and_a_clock_that_was_set_back_are_shown(client: TestClient, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"], "supported", days=2)
    path = watched.line.home / "certificates" / f"{certificate.id}.json"
    path.write_text(path.read_text().replace('"alpha": 0.1', '"alpha": 0.9'))
    html = check_page(client.get("/watch"))
    assert "Void: edited after it was signed: alpha" in html and "clock was set back" in html


def test_two_people_label_audits_blindly_and_settle_a_disagreement(client: TestClient, watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, [f"Is it {HOSTILE}?", "Second?"])
    watched.audit(certificate.id, ["Withheld?"], answered=False)
    start = check_page(client.get("/watch/notes/label"))
    assert "0 of 2 answers have a label" in start
    for name, keys in (("ann", "sh"), ("bob", "hh")):
        address = client.get(f"/watch/notes/label/next?annotator={name}").headers["location"]
        for key in keys:
            html = check_page(client.get(address))
            assert certificate.id not in html and "abstain at" not in html and "0.7" not in html
            assert "lasts for three years" in html and "Batteries" in html  # with what stands around the passage
            assert "<script>alert" not in html
            address = client.post(address, data={"label": key}).headers["location"]
        assert address == f"/watch/notes/label?annotator={name}"
    assert labels(watched) == [
        ("ann", "supported"),
        ("ann", "hallucinated"),
        ("bob", "hallucinated"),
        ("bob", "hallucinated"),
    ]
    html = check_page(client.get("/watch/notes/label?annotator=ann"))
    assert "Settle 1 disagreement" in html and "ann has labelled 2 of 2" in html
    address = client.get("/watch/notes/label/next?annotator=eve&settle=yes").headers["location"]
    assert "Settle disagreements" in check_page(client.get(address))
    done = client.post(address, data={"label": "s"}).headers["location"]
    assert "annotator=eve" in done and "Settle 1" not in client.get(done).text


def test_a_file_goes_out_and_comes_back(client: TestClient, watched: Any) -> None:
    watched.audit("", ["First?", "Second?"])
    sent = client.get("/watch/notes/label/labels.csv?annotator=ann")
    assert sent.headers["content-disposition"] == 'attachment; filename="audits-notes.csv"'
    rows = list(csv.DictReader(io.StringIO(sent.content.decode("utf-8-sig"))))
    assert [row["question"] for row in rows] == ["First?", "Second?"]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows([rows[0] | {"label": "h"}, rows[1]])
    file = {"file": ("labels.csv", out.getvalue().encode(), "text/csv")}
    html = check_page(client.post("/watch/notes/label/import?annotator=ann", files=file))
    assert "1 labels of ann were imported from labels.csv; 1 lines without a label" in html
    assert labels(watched) == [("ann", "hallucinated")]
    bad = {"file": ("labels.csv", out.getvalue().replace(",h,", ",maybe,").encode(), "text/csv")}
    assert "maybe" in check_page(client.post("/watch/notes/label/import?annotator=bob", files=bad), 422)
    assert labels(watched) == [("ann", "hallucinated")]


def test_what_is_wrong_is_said_on_the_page(client: TestClient, watched: Any) -> None:
    (number,) = watched.audit("", ["First?"])
    assert "fill in your name" in check_page(client.get("/watch/notes/label/next"), 422)
    address = client.get("/watch/notes/label/next?annotator=ann").headers["location"]
    assert "press one of the four" in check_page(client.post(address, data={"label": "x"}), 422)
    assert client.get("/watch/notes/label/000000000000?annotator=ann").status_code == 404
    assert client.get("/watch/nots/label").status_code == 404
    assert client.post(address, data={"label": "s"}, headers={"origin": "http://evil"}).status_code == 403
    assert labels(watched) == [] and number


def test_keys_name_annotators_and_other_tenants_see_nothing(watched: Any) -> None:
    watched.audit("", ["First?"])
    keys = KeyStore(watched.line.store)
    ann = keys.create("ann", ["evaluate"]).secret
    other = keys.create("other", ["admin"], tenant="other").secret
    with TestClient(create_app(watched.line, require_key=True), follow_redirects=False) as client:

        def get(path: str, secret: str) -> Any:
            return client.get(path, headers={"Authorization": f"Bearer {secret}"})

        address = get("/watch/notes/label/next?annotator=mallory", ann).headers["location"]
        client.post(address, data={"label": "s"}, headers={"Authorization": f"Bearer {ann}"})
        assert labels(watched) == [("ann", "supported")]
        assert "notes" not in check_page(get("/watch", other))
        assert get("/watch/notes/label", other).status_code == 404 and get(address, other).status_code == 404
        assert client.get("/watch", headers={"accept": "text/html"}).status_code in (303, 401)
