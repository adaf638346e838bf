"""Joint reading of an answer's claims in verify, score and report, and the messages about it."""

from __future__ import annotations

from typing import Any

import pytest

import plumbline
from app.judging import answer_judge as score_judging
from app.judging.answer_judge import JudgePlan
from app.judging.verification import ClaimChecker, ClaimPair
from app.judging.verifier_sources import VerifierSource
from app.runs.weak_words import _weak_words
from app.training.verifier.calibration import CalibratedUse, calibrated
from evaluation.reports.report_data import ReportSample
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import EvidenceText
from evaluation.verifiers.verifier import VerificationItem
from model.checkpoints.shipped import shipped_verifier
from model.verifier.files import SupportUse, load_support
from tests.evaluation.entailment_helpers import QUESTION, Given, Neighbours

LAMP = "The lamp of Skerry is green."
ANSWER = "It is quite green. It stands rather high."
BOTH = ("It is quite green.", "It stands rather high.")


@pytest.mark.parametrize(("wanted", "together"), [(None, True), (True, True), (False, False)])
def test_a_checked_text_is_read_together_and_its_words_too(wanted: bool | None, together: bool) -> None:
    scorer = Neighbours()
    plan = JudgePlan("entailment", "contexts", None, 0.5, "cpu", VerifierSource(together=wanted))
    checker = ClaimChecker(plan, lambda name, device: scorer)
    (checked,) = checker.check([ClaimPair(ANSWER, (EvidenceText("", LAMP, 0),), "What?")], words=True)
    assert [v.support for v in checked.verdicts] == [pytest.approx(0.4 if together else 0.3)] * 2
    assert checker.name.endswith(" together") is together
    shortened = [p for p in scorer.pairs if p.claim == "It is green."]
    assert {p.answer for p in shortened} == ({("It is green.", BOTH[1])} if together else {()})


@pytest.mark.parametrize(("wanted", "support"), [(None, 0.4), (True, 0.4), (False, 0.3)])
def test_answers_are_scored_together_from_python(
    wanted: bool | None, support: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = Neighbours()
    monkeypatch.setattr(score_judging, "load_scorer", lambda name, device: scorer)
    rows: list[dict[str, Any]] = [{"question": "What?", "answer": ANSWER, "contexts": [LAMP]}]
    found = plumbline.score_answers(rows, verifier="entailment", together=wanted)
    assert [v.support for v in found.answers[0].evaluation.verdicts] == [pytest.approx(support)] * 2


def test_a_reports_marks_read_each_answer_as_it_was_judged() -> None:
    scorer = Neighbours()
    verifier = EntailmentVerifier(scorer, Given(LAMP), together=True)
    claims = verifier.extract(QUESTION, ANSWER).claims
    (verdicts,) = verifier.verify([VerificationItem(QUESTION, claims, ANSWER)])
    sample = ReportSample(0, ANSWER, "hallucinated", 1, "", verdicts, ())
    scorer.pairs.clear()
    _weak_words(verifier, QUESTION, [sample, sample], [])(sample)
    first = len(scorer.pairs)
    assert {p.answer for p in scorer.pairs if p.claim == "It is green."} == {("It is green.", BOTH[1])}
    scorer.pairs.clear()
    _weak_words(verifier, QUESTION, [sample], [])
    assert len(scorer.pairs) == first  # the same answer twice costs no more


def test_nothing_to_calibrate_on_leaves_everything_as_it_is() -> None:
    messages: list[str] = []
    use = SupportUse(60, answer_tokens=40)
    loaded = load_support(shipped_verifier())
    assert calibrated(loaded, use, [], [], notify=messages.append) == CalibratedUse(use)
    assert messages == ["not calibrated: no pair with held-out evidence"]
