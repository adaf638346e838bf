"""Policies over HTTP: responses, delayed streams, missing certificates, and invalid values."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.calibration.home_key import KEY_FILE, open_home_key
from evaluation.policies.candidate import DECLINED

QUESTION = "How long is the warranty of the Heron 4?"
TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."


def query(client: TestClient, **fields: Any) -> Any:
    return client.post("/v1/query", json={"question": QUESTION, **fields})


def chat(client: TestClient, content: str = QUESTION, **fields: Any) -> Any:
    body = {"model": "notes", "messages": [{"role": "user", "content": content}], "max_tokens": 32, **fields}
    return client.post("/v1/chat/completions", json=body)


def events(text: str) -> list[tuple[str, Any]]:
    return [(name, json.loads(data)) for name, data in re.findall(r"^event: (\w+)\ndata: (.*)\n\n", text, re.MULTILINE)]


def test_query_runs_policies_in_order_and_tells_all(policy_client: TestClient, policy_world: Any) -> None:
    policy_world.says.texts = [f"{TRUE} {FALSE}"]
    body = query(policy_client, policy=["abstain", "strip", "flag"], threshold=0.4).json()
    assert body["answers"][0]["text"] == TRUE
    policy = body["policy"]
    assert (
        policy["ran"] == ["flag", "strip", "abstain"] and policy["threshold"] == 0.4 and policy["certificate"] is None
    )
    assert "submarines" in policy["answers"][0]["removed"][0]["text"] and policy["answers"][0]["flagged"] == []
    assert policy["cost"]["answers_judged"] == 1 and policy["cost"]["completion_tokens"] == 2
    assert query(policy_client).json()["policy"] is None
    assert query(policy_client, policy=["none"]).json()["policy"]["ran"] == ["none"]


def test_best_of_n_and_correct_share_the_service(policy_client: TestClient, policy_world: Any) -> None:
    wrong = "The office in Lisbon is painted red every seventeen weeks."
    policy_world.says.texts = [wrong, wrong, TRUE]
    body = query(policy_client, policy=["best_of_n", "correct"], n=2, k=1, correct_rounds=1).json()
    assert body["answers"][0]["text"] == TRUE and len(body["answers"]) == 1
    assert len(body["policy"]["samples"]) == 2 and body["policy"]["rounds"][0]["kept"]
    assert body["usage"]["completion_tokens"] == 6 and body["policy"]["cost"]["rounds"] == 1


def test_a_stream_holds_the_text_back_until_policies_end(policy_client: TestClient, policy_world: Any) -> None:
    policy_world.says.texts = [FALSE]
    found = events(query(policy_client, policy=["abstain"], stream=True, verify=True).text)
    assert [name for name, _ in found] == ["sources", "text", "answers", "policy", "verdicts", "done"]
    named = dict(found)
    assert named["sources"]["buffered"] is True and named["sources"]["policy"] == ["abstain"]
    assert named["text"]["text"] == DECLINED and FALSE not in json.dumps([found[1], found[2]])
    assert named["policy"]["answers"][0]["answered"] is False
    plain = dict(events(query(policy_client, stream=True).text))
    assert plain["sources"]["buffered"] is False and "policy" not in plain


def test_a_stream_of_a_corrected_answer_sends_its_sources(policy_client: TestClient, policy_world: Any) -> None:
    policy_world.says.texts = ["The office in Lisbon is painted red every seventeen weeks.", TRUE]
    found = events(query(policy_client, policy=["correct"], stream=True, k=1, correct_rounds=1).text)
    sources = [data["sources"] for name, data in found if name == "sources"]
    assert len(sources) == 2 and len(sources[0]) == 1 and len(sources[1]) > 1
    numbers = {s["number"]: s["document_id"] for s in sources[1]}
    (answers,) = (data["answers"] for name, data in found if name == "answers")
    assert answers[0]["annotations"][0]["document_id"] == numbers[1]


def test_chat_answers_with_policies_whole_and_in_chunks(policy_client: TestClient, policy_world: Any) -> None:
    policy_world.says.texts = [FALSE]
    body = chat(policy_client, policy=["abstain"]).json()
    assert body["choices"][0]["message"]["content"] == DECLINED and body["sources"]
    assert body["plumbline"]["policy"]["ran"] == ["abstain"]
    text = chat(policy_client, policy=["abstain"], stream=True).text
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert chunks[0]["plumbline"] == {"buffered": True, "policy": ["abstain"]}
    expected = "".join(choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"])
    assert expected == DECLINED and chunks[-1]["plumbline"]["policy"]["answers"][0]["answered"] is False


def test_a_greeting_is_replied_to_without_policies(policy_client: TestClient, policy_world: Any) -> None:
    body = chat(policy_client, "Hello!", policy=["abstain"]).json()
    assert body["plumbline"]["policy"]["notes"] and not policy_world.says.prompts
    assert chat(policy_client, "Hello!", max_hallucination_rate=0.1).status_code == 409


@pytest.mark.parametrize("ask", [query, chat])
@pytest.mark.parametrize("stream", [False, True])
def test_without_a_certificate_it_is_409_and_with_one_it_answers(
    policy_client: TestClient, policy_world: Any, ask: Any, stream: bool
) -> None:
    refused = ask(policy_client, max_hallucination_rate=0.1, stream=stream)
    error = refused.json()["error"]
    assert refused.status_code == 409 and error["code"] == "no_certificate"
    assert error["param"] == "max_hallucination_rate" and "calibrate" in error["message"]
    path = policy_world.certify(decoding="t=0.5")
    other = ask(policy_client, max_hallucination_rate=0.1, stream=stream).json()["error"]["message"]
    assert "decoding" in other and path.stem in other and str(policy_world.line.home) not in other
    assert not policy_world.says.prompts
    good = policy_world.certify(threshold=0.3)
    answered = ask(policy_client, max_hallucination_rate=0.1, stream=stream)
    assert answered.status_code == 200 and good.stem in answered.text and "three years" in answered.text


@pytest.mark.parametrize("ask", [query, chat])
def test_a_policy_that_changes_texts_needs_a_certificate_of_its_own(
    policy_client: TestClient, policy_world: Any, ask: Any
) -> None:
    asked = {"max_hallucination_rate": 0.1, "policy": ["abstain", "strip"]}
    policy_world.says.texts = [f"{FALSE} {TRUE}"]
    policy_world.certify(threshold=0.3)
    refused = ask(policy_client, **asked)
    assert refused.status_code == 409 and "strip(threshold=0.5),abstain" in refused.json()["error"]["message"]
    path = policy_world.certify(threshold=0.3, policy="strip(threshold=0.5),abstain")
    answered = ask(policy_client, **asked)
    assert answered.status_code == 200 and path.stem in answered.text
    assert "three years" in answered.text and '"ran":["strip","abstain"]' in answered.text.replace(" ", "")


def edited(path: Path) -> None:
    path.write_text(path.read_text().replace('"threshold": 0.5', '"threshold": 0.4'))


def copied(path: Path) -> None:
    """Replace the home's key, so that the certificate appears to come from another home."""
    (path.parent / KEY_FILE).unlink()
    open_home_key(path.parent)


@pytest.mark.parametrize("ask", [query, chat])
@pytest.mark.parametrize(
    ("spoil", "changed", "named"),
    [
        (edited, {}, "threshold"),
        (copied, {}, "another home"),
        (None, {"generation": "0" * 64}, "generation"),
        (None, {"days": 1}, "clock"),
    ],
)
def test_a_certificate_that_does_not_hold_is_409_with_the_reason(
    policy_client: TestClient, policy_world: Any, ask: Any, spoil: Any, changed: dict[str, Any], named: str
) -> None:
    path = policy_world.certify(**changed)
    if spoil is not None:
        spoil(path)
    refused = ask(policy_client, max_hallucination_rate=0.1)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (409, "no_certificate")
    assert named in error["message"] and path.stem in error["message"] and not policy_world.says.prompts


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"policy": ["flga"]}, "policy.0"),
        ({"policy": []}, "policy"),
        ({"policy": ["flag", "flag"]}, "policy"),
        ({"policy": "flag"}, "policy"),
        ({"policy": ["best_of_n"]}, "n"),
        ({"policy": ["best_of_n"], "n": 2, "temperature": 0}, "temperature"),
        ({"policy": ["correct"], "correct_rounds": 0}, "correct_rounds"),
        ({"policy": ["correct"], "correct_tokens": 0}, "correct_tokens"),
        ({"policy": ["abstain"], "threshold": 1.01}, "threshold"),
        ({"threshold": 0.5}, "threshold"),
        ({"max_hallucination_rate": 0}, "max_hallucination_rate"),
        ({"max_hallucination_rate": 1}, "max_hallucination_rate"),
        ({"max_hallucination_rate": 0.1, "threshold": 0.5}, "threshold"),
        ({"max_hallucination_rate": 0.1, "policy": ["none"]}, "policy"),
    ],
)
def test_bad_values_are_named_by_both_endpoints(policy_client: TestClient, fields: Any, param: str) -> None:
    for ask, status in ((query, 422), (chat, 400)):
        refused = ask(policy_client, **fields)
        assert (refused.status_code, refused.json()["error"]["param"]) == (status, param)


def test_there_must_be_something_to_judge_by(policy_client: TestClient) -> None:
    alone = query(policy_client, retrieval=False, policy=["flag"])
    assert (alone.status_code, alone.json()["error"]["param"]) == (422, "policy")
    model = chat(policy_client, model="says", policy=["flag"])
    assert (model.status_code, model.json()["error"]["param"]) == (400, "policy")
