"""Audits of the service: which answers are drawn, what is stored, and for how long."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError
from sqlalchemy import insert

from app.accounts.keys import KeyStore
from app.accounts.tenants import create_tenant_collection
from app.home.query_age import prune_audits
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from data.columns import utc_now
from data.documents import Document
from data.schema import audits
from evaluation.audits.audit import StoredAudit, is_drawn
from evaluation.audits.audit_store import AuditLabel, AuditStore
from retrieval.collections import delete_collection

QUESTION = "How long is the warranty of the Heron 4?"
TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."


def kept(pipeline: Pipeline, collection: str = "notes") -> tuple[StoredAudit, ...]:
    store = AuditStore(pipeline.store)
    texts = store.with_texts([audit.number for audit in store.load(collection)])
    return tuple(texts.values())


def ask(client: TestClient, **fields: Any) -> Any:
    reply = client.post("/v1/query", json={"question": QUESTION, **fields})
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_an_audit_keeps_question_answer_passages_and_how_it_was_drawn(policy_world: Any) -> None:
    certificate = policy_world.certify(threshold=0.3).stem
    with TestClient(create_app(policy_world.line)) as client:
        body = ask(client, max_hallucination_rate=0.1)
    (audit,) = kept(policy_world.line)
    assert (audit.query_id, audit.probability, audit.certificate) == (body["id"], 1.0, certificate)
    assert (audit.policy, audit.answered, audit.score) == ("abstain", True, body["policy"]["answers"][0]["score"])
    content = audit.content
    assert content is not None and content.question == QUESTION and content.original == ""
    assert content.answer == body["answers"][0]["text"] == TRUE
    assert [p.text for p in content.passages] == [s["text"] for s in body["sources"] if s["number"] is not None]
    assert content.verifier == policy_world.judge.name and content.generation == body["generation"]


def test_a_withheld_answer_is_kept_as_one_that_needs_no_label(policy_world: Any) -> None:
    policy_world.says.texts = [FALSE]
    with TestClient(create_app(policy_world.line)) as client:
        ask(client, policy=["abstain"])
    (audit,) = kept(policy_world.line)
    assert not audit.answered and audit.certificate == "" and audit.score is not None
    assert AuditStore(policy_world.line.store).to_label("notes") == ()


def test_what_is_not_an_answer_from_documents_is_not_audited(policy_world: Any) -> None:
    with TestClient(create_app(policy_world.line)) as client:
        ask(client, retrieval=False)
        chat = {"model": "notes", "messages": [{"role": "user", "content": "Hello!"}]}
        assert client.post("/v1/chat/completions", json=chat).status_code == 200
        assert client.post("/v1/query", json={"question": QUESTION, "collection": "none"}).status_code == 404
    assert kept(policy_world.line) == ()


def test_a_follow_up_keeps_both_forms_of_its_question(policy_world: Any) -> None:
    turns = [(("user", QUESTION)), ("assistant", TRUE), ("user", "Does it cover batteries?")]
    messages = [{"role": role, "content": text} for role, text in turns]
    with TestClient(create_app(policy_world.line)) as client:
        reply = client.post("/v1/chat/completions", json={"model": "notes", "messages": messages, "verify": True})
        assert reply.status_code == 200, reply.text
    (audit,) = kept(policy_world.line)
    assert audit.content is not None and audit.content.original == "Does it cover batteries?"
    assert "Heron 4" in audit.content.question and audit.score is not None and audit.content.verifier


@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_the_rate_is_recorded_and_its_draw_is_that_of_the_id(
    make_pipeline: Any, make_settings: Any, home_copy: Any, first_words: Any, rate: float
) -> None:
    line = make_pipeline(make_settings(home_copy, audit_rate=rate), first_words())
    with TestClient(create_app(line)) as client:
        ids = [ask(client)["id"] for _ in range(12)]
    assert [audit.query_id for audit in kept(line)] == [one for one in ids if is_drawn(one, rate)]
    assert {audit.probability for audit in kept(line)} <= {rate}


def test_an_answer_comes_even_if_its_audit_cannot_be_kept(policy_world: Any, caplog: Any) -> None:
    with policy_world.line.store.write() as connection:
        connection.exec_driver_sql("ALTER TABLE audits RENAME TO elsewhere")
    with TestClient(create_app(policy_world.line)) as client:
        assert ask(client)["answers"][0]["text"] == TRUE
    assert "1 audits are not stored" in caplog.text


def test_audits_go_with_their_collection_and_belong_to_its_tenant(policy_world: Any) -> None:
    line = policy_world.line
    secret = KeyStore(line.store).create("them", ["query"], tenant="other").secret
    own = create_tenant_collection(line.store, "other", "notes")
    line.index(own.stored, [Document("warranty", "Warranty", "The warranty of their Heron 4 lasts for one year.")])
    with TestClient(create_app(line)) as client:
        ask(client)
        sent = {"question": "Whose warranty?"}
        reply = client.post("/v1/query", json=sent, headers={"Authorization": f"Bearer {secret}"})
        assert reply.status_code == 200, reply.text
    assert [a.content.question for a in kept(line) if a.content] == [QUESTION]
    assert [a.content.question for a in kept(line, own.stored) if a.content] == ["Whose warranty?"]
    delete_collection(line.store, line.home, "notes")
    assert kept(line) == () and len(kept(line, own.stored)) == 1


@pytest.mark.parametrize("rate", [-0.1, 1.1, 0.00001, float("nan"), float("inf"), "often"])
def test_a_rate_that_cannot_be(rate: object, typed: Callable[..., SimpleNamespace], home_copy: Any) -> None:
    with pytest.raises(ValidationError, match="audit_rate"):
        Settings(audit_rate=rate)  # type: ignore[arg-type]
    ran = typed("serve", "--audit-rate", rate, "--home", home_copy, "--port", "0")
    assert ran.code == 2 and "--audit-rate" in ran.err


def test_the_variable_is_named_when_it_is_wrong(
    typed: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch, home_copy: Any
) -> None:
    monkeypatch.setenv("PLUMBLINE_AUDIT_RATE", "7")
    ran = typed("collections", "--home", home_copy)
    assert ran.code == 2 and "PLUMBLINE_AUDIT_RATE" in ran.err and "7" in ran.err


def stored(line: Pipeline, days: int, text: str) -> int:
    """Store an audit of the given age and return its number."""
    with line.store.write() as connection:
        key = connection.exec_driver_sql("SELECT id FROM collections WHERE name = 'notes'").scalar()
        content = {"question": text, "original": "", "answer": "a", "passages": [], "model": "m"}
        values = {
            **{
                "query_id": uuid.uuid4().hex,
                "collection_id": key,
                "certificate": "",
                "policy": "none",
                "probability": 0.5,
            },
            **{"answered": True, "score": 0.25, "content": {**content, "generation": "g", "verifier": ""}},
            "created_at": utc_now() - timedelta(days=days),
        }
        row = connection.execute(insert(audits).values(values)).inserted_primary_key
    assert row is not None
    return int(row[0])


def test_texts_are_pruned_and_figures_stay(policy_world: Any, home_copy: Any) -> None:
    line = policy_world.line
    old, new = stored(line, 91, "the secret question"), stored(line, 1, "another question")
    AuditStore(line.store).save_labels([AuditLabel(old, "ann", "hallucinated")], utc_now())
    assert prune_audits(line.store, timedelta(days=90)) == 1
    assert prune_audits(line.store, timedelta(days=90)) == 0
    first, second = kept(line)
    assert (first.number, first.content, first.score, first.probability) == (old, None, 0.25, 0.5)
    assert second.number == new and second.content is not None
    assert AuditStore(line.store).labels("notes") == (AuditLabel(old, "ann", "hallucinated"),)
    line.close()
    assert b"the secret question" not in (home_copy / "plumbline.db").read_bytes()


def test_the_command_and_the_worker_prune_audits(
    make_pipeline: Any, make_settings: Any, home_copy: Any, typed: Callable[..., SimpleNamespace]
) -> None:
    line = make_pipeline(make_settings(home_copy, keep_queries_days=90.0))
    stored(line, 91, "one")
    ran = typed("prune", "--older-than", "90d", "--home", home_copy)
    assert ran.code == 0 and "1 audits" in ran.err
    stored(line, 91, "two")
    Worker(line).tidy()
    assert [audit.content for audit in kept(line)] == [None, None]
