"""The watch over HTTP: status, metrics, and isolation of tenants."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.accounts.keys import KeyStore
from app.service.application import create_app
from data.columns import utc_now
from evaluation.audits.audit_store import AuditLabel, AuditStore

QUESTION = "How long is the warranty of the Heron 4?"


def metric(client: TestClient, name: str, **headers: str) -> dict[tuple[str, ...], float]:
    """Return the samples of a metric by label values, sorted by label names."""
    text = client.get("/metrics", headers=headers).text
    found = re.finditer(rf"^plumbline_watch_{name}{{(.*)}} (\S+)$", text, re.MULTILINE)
    return {tuple(value for _, value in sorted(re.findall(r'(\w+)="(.*?)"', f[1]))): float(f[2]) for f in found}


def ask(client: TestClient) -> int:
    body = {"question": QUESTION, "max_hallucination_rate": 0.1}
    return client.post("/v1/query", json=body).status_code


def test_from_a_certified_query_to_an_alarm(policy_world: Any) -> None:
    certificate = policy_world.certify(threshold=0.3).stem
    line = policy_world.line
    with TestClient(create_app(line)) as client:
        assert {ask(client) for _ in range(12)} == {200}
    with TestClient(create_app(line)) as client:
        before = client.get("/v1/watch").json()
        (watch,) = before["data"][0]["watches"]
        assert watch["certificate"] == certificate and watch["audits"]["waiting"] == 12 and before["alarms"] == []
        assert metric(client, "alarm")["rate", certificate, "notes"] == 0.0
        assert metric(client, "audits")[certificate, "notes", "waiting"] == 12.0
        store = AuditStore(line.store)
        labels = [AuditLabel(number, "ann", "hallucinated") for number, _ in store.to_label("notes")]
        store.save_labels(labels, utc_now())
        after = client.get(f"/v1/watch/{certificate}").json()
        assert after["alarms"] == [f"notes {certificate} rate"] and "never renews" in after["note"]
        assert metric(client, "alarm")["rate", certificate, "notes"] == 1.0
        assert metric(client, "alpha")[certificate, "notes"] == 0.1
        assert metric(client, "rate")["estimate", certificate, "notes"] == 1.0
        # the certificate answers on: an alarm informs, it takes nothing back
        assert ask(client) == 200


def test_answers_without_a_certificate_have_no_alarm_metric(watched: Any) -> None:
    watched.audit("", ["q"] * 3, "hallucinated")
    with TestClient(create_app(watched.line)) as client:
        assert metric(client, "alarm") == {} and metric(client, "alpha") == {}
        assert metric(client, "rate")["estimate", "", "notes"] == 1.0
        assert metric(client, "clock_set_back") == {("notes",): 0.0}
        assert client.get("/v1/watch/notes").json()["data"][0]["watches"][0]["certificate"] is None


def test_watches_belong_to_a_tenant_and_need_a_scope(watched: Any) -> None:
    certificate = watched.certify()
    watched.audit(certificate.id, ["q"] * 3, "hallucinated")
    keys = KeyStore(watched.line.store)
    other = keys.create("other", ["admin"], tenant="other").secret
    reader = keys.create("reader", ["query"]).secret
    judge = keys.create("judge", ["evaluate"]).secret
    with TestClient(create_app(watched.line, require_key=True)) as client:

        def get(path: str, secret: str) -> Any:
            return client.get(path, headers={"Authorization": f"Bearer {secret}"})

        assert get("/v1/watch", other).json()["data"] == []
        for name in ("notes", certificate.id):
            assert get(f"/v1/watch/{name}", other).status_code == 404
            assert get(f"/v1/watch/{name}", judge).status_code == 200
        assert get("/v1/watch", reader).status_code == 403 and client.get("/v1/watch").status_code == 401
        assert metric(client, "audits", Authorization=f"Bearer {other}") == {}


@pytest.mark.parametrize("name", ["nots", "0" * 16, "..", "%00", "a" * 500])
def test_unknown_names_are_404(watched: Any, name: str) -> None:
    with TestClient(create_app(watched.line)) as client:
        assert client.get(f"/v1/watch/{name}").status_code == 404


def test_other_metrics_stay_where_the_watch_cannot_be_read(watched: Any) -> None:
    with watched.line.store.write() as connection:
        connection.exec_driver_sql("ALTER TABLE audits RENAME TO elsewhere")
    with TestClient(create_app(watched.line)) as client:
        text = client.get("/metrics")
        assert text.status_code == 200 and "plumbline_requests_active" in text.text
        assert client.get("/v1/watch").status_code in (500, 503)
