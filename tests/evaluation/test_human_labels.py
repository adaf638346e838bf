"""Labels from people as a verifier: by id, by words, of answers and of claims, and files that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError
from data.questions import Question
from data.verdict_labels import load_verdict_labels
from evaluation.outcomes import AnswerEvaluation, outcome_of
from evaluation.verifiers.human_labels import LabelVerifier
from evaluation.verifiers.verifier import VerificationItem

ASKED = Question("q1", "How long is it?")


def labels(tmp_path: Path, *rows: dict[str, Any]) -> LabelVerifier:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return LabelVerifier(load_verdict_labels(path))


def judged(verifier: LabelVerifier, answer: str, question: Question = ASKED) -> AnswerEvaluation:
    extracted = verifier.extract(question, answer)
    (verdicts,) = verifier.verify([VerificationItem(question, extracted.claims, answer)])
    return outcome_of(verdicts, extracted.refused)


@pytest.mark.parametrize(
    ("label", "outcome"),
    [
        ({"label": "supported"}, "supported"),
        ({"label": "Contradicted"}, "hallucinated"),
        ({"label": "unverifiable"}, "hallucinated"),
        ({"human_label": "not supported"}, "hallucinated"),
        ({"hallucinated": True}, "hallucinated"),
        ({"hallucinated": "0"}, "supported"),
        ({"supported": 1}, "supported"),
        ({"label": "abstained"}, "abstained"),
    ],
)
def test_what_people_may_say(tmp_path: Path, label: dict[str, Any], outcome: str) -> None:
    verifier = labels(tmp_path, {"question_id": "q1", "answer": "Twelve\n metres", **label})
    assert judged(verifier, " Twelve metres ").outcome == outcome
    other = judged(verifier, "Twelve metres", Question("q2", "How long is it?"))
    assert other.outcome == "unscored" and "has no label" in other.reason


def test_by_the_questions_words_and_for_any_question(tmp_path: Path) -> None:
    verifier = labels(
        tmp_path,
        {"question": "how long  is it?", "answer": "12 m", "label": "supported"},
        {"answer": "yes", "label": "contradicted"},
    )
    assert judged(verifier, "12 m").outcome == "supported" and len(verifier.unused) == 1
    assert judged(verifier, "yes", Question("x", "Is it?")).outcome == "hallucinated" and verifier.unused == ()


def test_a_refusal_in_words_that_people_call_a_claim_is_one(tmp_path: Path) -> None:
    answer = "I don't know."
    assert judged(labels(tmp_path, {"answer": answer, "label": "contradicted"}), answer).outcome == "hallucinated"
    assert judged(labels(tmp_path, {"answer": "else", "label": "contradicted"}), answer).outcome == "abstained"


def test_claims_of_an_answer(tmp_path: Path) -> None:
    rows = [{"claim": "The mast is oak.", "label": "supported"}, {"claim": "It is red.", "label": "contradicted"}]
    verifier = labels(tmp_path, *rows, {"claim": "The sky, surely.", "label": "abstained"})
    text = "The mast is oak. It is red. It is old. The sky, surely."
    found = judged(verifier, text)
    assert [v.label for v in found.verdicts] == ["supported", "contradicted", "unscored", "unscored"]
    assert [text[v.claim.start : v.claim.end] for v in found.verdicts] == [v.claim.text for v in found.verdicts]
    assert "no claim" in found.verdicts[3].reason


def test_names_follow_the_labels(tmp_path: Path) -> None:
    one = {"answer": "a", "label": "supported"}
    two = {"answer": "b", "label": "unverifiable", "note": "no source"}
    assert labels(tmp_path, one, two).name == labels(tmp_path, two, one).name
    assert labels(tmp_path, one, {**two, "label": "supported"}).name != labels(tmp_path, one, two).name
    assert judged(labels(tmp_path, two), "b").verdicts[0].reason.endswith("labels.jsonl:1): no source")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"answer": "a", "label": "purple"}], "labels.jsonl:1: .*purple"),
        ([{"answer": "a", "label": 1}], "supported or hallucinated"),
        ([{"label": "supported"}], "answer nor a claim"),
        ([{"answer": "a", "verdict": "x"}], "label.*answer, verdict"),
        ([{"answer": "a", "label": ""}], "no label"),
        (
            [{"answer": "a", "label": "supported"}, {"answer": " a", "label": "refuted"}],
            ":2.*contradicted.*:1",
        ),
    ],
)
def test_files_that_cannot_be(tmp_path: Path, rows: list[dict[str, Any]], expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        labels(tmp_path, *rows)
