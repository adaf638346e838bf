"""Queries with policies outside the service: answers, matching certificates, and rejected requests."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.answers import QueryRequest, QueryResult
from app.calibration.certificate_files import CertificateFiles
from app.calibration.home_key import KEY_FILE, open_home_key
from app.policies.answering import answer_with_policy
from app.policies.certifying import NoCertificateError
from app.policies.policy_request import PolicyRequest, plan_of
from data.documents import Document
from data.schema import queries
from evaluation.policies.candidate import DECLINED
from evaluation.policies.plan import PolicyError
from generation.decoding.params import SamplingParams

QUESTION = "How long is the warranty of the Heron 4?"
TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."


def ask(world: Any, *texts: str, n: int = 1, k: int = 4, temperature: float = 0.0, **wanted: Any) -> QueryResult:
    if texts:
        world.says.texts = list(texts)
    params = SamplingParams(max_tokens=32, n=n, temperature=temperature)
    return answer_with_policy(
        world.line, QueryRequest(QUESTION, "notes", k=k, params=params), PolicyRequest(**wanted), world.judge
    )


def test_flag_marks_in_the_answer_that_is_given(policy_world: Any) -> None:
    result = ask(policy_world, f"{TRUE} {FALSE}", policies=("flag",))
    (answer,) = result.to_json()["policy"]["answers"]
    (span,) = answer["flagged"]
    assert result.answers[0].text[span["start"] : span["end"]] == span["text"] and "submarines" in span["text"]
    assert answer["answered"] and answer["score"] < 0.5


def test_strip_removes_it_and_says_why(policy_world: Any) -> None:
    result = ask(policy_world, f"{FALSE} {TRUE}", policies=("strip",))
    answer = result.to_json()["answers"][0]
    assert result.answers[0].text == TRUE and result.answers[0].completion.citations[0].start == TRUE.index("[1]")
    assert answer["mean_logprob"] is None and answer["outcome"] == "supported"
    assert answer["verdicts"][0]["evidence"][0]["document_id"] == "warranty"
    assert result.policy is not None and "threshold" in result.policy.outcome.answers[0].removed[0].reason


def test_abstain_keeps_the_nearest_passages_and_the_query_is_stored_with_it(policy_world: Any) -> None:
    result = ask(policy_world, FALSE, policies=("abstain",))
    assert result.answers[0].text == DECLINED and result.sources[0].document_id == "warranty"
    with policy_world.line.store.read() as connection:
        stored = connection.execute(select(queries.c.answer).where(queries.c.id == result.id)).scalar_one()
    assert stored["policy"]["answers"][0]["removed"][0]["text"] == FALSE


def test_best_of_n_counts_the_tokens_of_all_samples(policy_world: Any) -> None:
    result = ask(policy_world, FALSE, TRUE, FALSE, n=3, temperature=0.7, policies=("best_of_n",))
    assert [a.text for a in result.answers] == [TRUE]
    shown = result.to_json()
    assert shown["usage"]["completion_tokens"] == 6 and [s["chosen"] for s in shown["policy"]["samples"]] == [0, 1, 0]


def test_correct_asks_again_with_other_passages(policy_world: Any) -> None:
    wrong = "The office in Lisbon is painted red every seventeen weeks."
    result = ask(policy_world, wrong, TRUE, k=1, policies=("correct",), rounds=1)
    assert result.answers[0].text == TRUE and result.policy is not None
    (one,) = result.policy.outcome.rounds
    assert one.kept and one.claim.rstrip(".") == wrong.rstrip(".")
    assert result.prompt_tokens == 20 and result.completion_tokens == 4
    numbers = [s.number for s in result.sources]
    assert numbers[:2] == [1, 2] and len({s.document_id for s in result.sources}) == len(result.sources)


def test_a_rate_takes_the_certificates_threshold(policy_world: Any) -> None:
    policy_world.certify(0.2, threshold=0.99999)
    path = policy_world.certify(0.1, threshold=0.25)
    result = ask(policy_world, max_rate=0.1)
    assert result.policy is not None and result.policy.certificate is not None
    assert result.policy.certificate.id == path.stem and result.policy.outcome.plan.threshold == 0.25
    assert ask(policy_world, FALSE, max_rate=0.1, policies=("flag", "abstain")).answers[0].text == DECLINED


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model": "0" * 64}, "model"),
        ({"prompt": "another"}, "prompt"),
        ({"verifier": "another"}, "verifier"),
        ({"generation": "0" * 64}, "generation"),
        ({"encoder": "another"}, "encoder"),
        ({"retrieval": "k=9"}, "retrieval"),
        ({"decoding": "t=0.9"}, "decoding"),
        ({"policy": "strip,abstain"}, "policy"),
        ({"days": 1}, "clock"),
    ],
)
def test_a_certificate_of_anything_else_is_named_and_nothing_is_generated(
    policy_world: Any, changed: dict[str, Any], named: str
) -> None:
    policy_world.certify(**changed)
    with pytest.raises(NoCertificateError, match=named) as refused:
        ask(policy_world, max_rate=0.1)
    assert "plumbline calibrate" in str(refused.value) and not policy_world.says.prompts
    assert str(policy_world.line.home) not in str(refused.value)


@pytest.mark.parametrize(
    ("policies", "n", "name"),
    [
        (("strip", "abstain"), 1, "strip(threshold=0.5),abstain"),
        (("correct", "abstain"), 1, "correct(rounds=2 tokens=8192 threshold=0.5),abstain"),
        (("best_of_n", "abstain"), 3, "best_of_n(n=3 threshold=0.5),abstain"),
    ],
)
def test_a_certificate_is_of_the_same_policies_with_the_same_settings(
    policy_world: Any, policies: tuple[str, ...], n: int, name: str
) -> None:
    heat = 0.7 if n > 1 else 0.0
    path = policy_world.certify(threshold=0.25, policy=name, decoding=f"t={heat} p=1.0 k=all m=32")
    found = ask(policy_world, n=n, temperature=heat, max_rate=0.1, policies=policies).policy
    assert found is not None and found.certificate is not None and found.certificate.id == path.stem
    assert found.outcome.plan.abstains_below == 0.25 and found.outcome.plan.threshold == 0.5
    policy_world.says.prompts.clear()
    with pytest.raises(NoCertificateError, match=re.escape("threshold=0.9")):
        ask(policy_world, n=n, temperature=heat, max_rate=0.1, policies=policies, threshold=0.9)
    with pytest.raises(NoCertificateError, match=re.escape(name)):
        ask(policy_world, max_rate=0.1)
    assert not policy_world.says.prompts


def test_an_edited_certificate_one_of_another_home_and_too_large_an_alpha(policy_world: Any, tmp_path: Path) -> None:
    path = policy_world.certify()
    with pytest.raises(NoCertificateError, match=r"0\.1\b"):
        ask(policy_world, max_rate=0.05)
    content = json.loads(path.read_text())
    whole = path.read_text()
    content["certificate"]["threshold"] = 0.0
    path.write_text(json.dumps(content))
    with pytest.raises(NoCertificateError, match=r"edited.*threshold"):
        ask(policy_world, max_rate=0.1)
    path.write_text(whole)
    assert ask(policy_world, max_rate=0.1).policy is not None
    folder = CertificateFiles(policy_world.line.home).folder
    (folder / KEY_FILE).unlink()
    other = tmp_path / "other"
    open_home_key(other)
    shutil.copy(other / KEY_FILE, folder / KEY_FILE)
    with pytest.raises(NoCertificateError, match="another home"):
        ask(policy_world, max_rate=0.1)


def test_a_newly_indexed_collection_ends_a_certificate(policy_world: Any) -> None:
    policy_world.certify()
    policy_world.line.index("notes", [Document("new", "New", "The warranty of the Heron 5 lasts for a week.")])
    with pytest.raises(NoCertificateError, match="generation"):
        ask(policy_world, max_rate=0.1)


def test_what_no_run_has_is_part_of_the_deployment(policy_world: Any) -> None:
    policy_world.certify()
    request = QueryRequest(QUESTION, "notes", params=SamplingParams(max_tokens=32), style="sentence")
    with pytest.raises(NoCertificateError, match="style"):
        answer_with_policy(policy_world.line, request, PolicyRequest(max_rate=0.1), policy_world.judge)


@pytest.mark.parametrize(
    ("wanted", "fields", "parameter"),
    [
        ({"policies": ("flags",)}, {}, "policy"),
        ({"max_rate": 0.0}, {}, "max_hallucination_rate"),
        ({"max_rate": 1.0}, {}, "max_hallucination_rate"),
        ({"max_rate": float("nan")}, {}, "max_hallucination_rate"),
        ({"max_rate": 0.1, "policies": ("flag",)}, {}, "policy"),
        ({"max_rate": 0.1, "threshold": 0.5}, {}, "threshold"),
        ({"threshold": 0.5}, {}, "threshold"),
        ({"policies": ("flag",), "threshold": 2.0}, {}, "threshold"),
        ({"policies": ("flag",), "rounds": 2}, {}, "correct_rounds"),
        ({"policies": ("correct",), "tokens": 0}, {}, "correct_tokens"),
        ({"policies": ("correct",), "rounds": -1}, {}, "correct_rounds"),
        ({"policies": ("best_of_n",)}, {}, "n"),
        ({"policies": ("abstain",)}, {"retrieval": False}, "policy"),
        ({"max_rate": 0.1}, {"retrieval": False}, "policy"),
    ],
)
def test_what_cannot_be_asked_names_its_parameter(wanted: Any, fields: Any, parameter: str) -> None:
    with pytest.raises(PolicyError) as refused:
        plan_of(PolicyRequest(**wanted), replace(QueryRequest(QUESTION), **fields))
    assert refused.value.parameter == parameter
