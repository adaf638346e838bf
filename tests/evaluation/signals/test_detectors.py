"""Signals as detectors, and claims' probabilities against their truth: references, weights and empty cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from evaluation.reading.risk_coverage import risk_coverage
from evaluation.signals.claim_calibration import ClaimProbability, claim_calibration
from evaluation.signals.detectors import (
    SignalRow,
    detector_scores,
    weighted_average_precision,
    weighted_risk_area,
)
from evaluation.signals.samples import SignalValue


def rows(n: int, seed: int = 1) -> list[SignalRow]:
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.3
    values = np.round(rng.normal(size=n) + 1.2 * bad, 1)  # ties
    pairs = zip(values, bad, strict=True)
    return [SignalRow(f"q{i}", SignalValue(float(v)), bool(b)) for i, (v, b) in enumerate(pairs)]


def test_scores_are_scikit_learns_with_intervals_around_them() -> None:
    items = rows(150)
    values, bad = [r.value.value for r in items], [r.hallucinated for r in items]
    found = detector_scores("entropy", items, replicates=300)
    assert found.auroc.estimate == pytest.approx(roc_auc_score(bad, values))
    assert found.aupr.estimate == pytest.approx(average_precision_score(bad, values))
    assert found.questions == 150 and found.base_rate == pytest.approx(np.mean(bad)) and found.curve is not None
    for figure in (found.auroc, found.aupr, found.area):
        assert figure.lower is not None and figure.upper is not None and figure.estimate is not None
        assert figure.lower < figure.estimate < figure.upper
    assert found.curve.best_area < found.curve.area < found.curve.random_area


def test_resampled_figures_are_those_of_repeated_answers() -> None:
    rng = np.random.default_rng(2)
    values, bad = np.round(rng.normal(size=30), 1), rng.random(30) < 0.4
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=4).astype(float)
    for w, precision, area in zip(
        weights,
        weighted_average_precision(values, bad, weights),
        weighted_risk_area(values, bad, weights),
        strict=True,
    ):
        v, b = np.repeat(values, w.astype(int)), np.repeat(bad, w.astype(int))
        assert precision == pytest.approx(average_precision_score(b, v))
        assert area == pytest.approx(risk_coverage((-v).tolist(), b.astype(float).tolist()).area)


def test_absent_signals_and_unjudged_answers_are_counted() -> None:
    absent, unjudged = SignalValue(None, "no token probabilities"), SignalValue(1.0)
    items = [*rows(30), SignalRow("x", absent, True), SignalRow("y", unjudged, None)]
    found = detector_scores("mean", items, replicates=200)
    assert found.questions == 30 and found.unjudged == 1 and found.absent == (("no token probabilities", 1),)
    nothing = detector_scores("mean", items[30:], replicates=200)
    assert nothing.auroc.estimate is None and nothing.curve is None and nothing.base_rate is None
    one = detector_scores("mean", [SignalRow("a", SignalValue(1.0), True), SignalRow("b", SignalValue(2.0), True)])
    assert one.auroc.estimate is None and "every answer is hallucinated" in one.aupr.reason


def test_claims_that_are_as_true_as_they_are_probable_have_little_error() -> None:
    rng = np.random.default_rng(4)
    claims = []
    for q in range(150):
        p = rng.random()
        claims += [ClaimProbability(f"q{q}", int(rng.binomial(20, p)), 20, float(rng.random() < p)) for _ in range(2)]
    found = claim_calibration(claims, replicates=300)
    assert found.claims == 300 == sum(b.claims for b in found.bins) and found.questions == 150
    assert found.error.estimate is not None and found.error.estimate < 0.15
    full = [b for b in found.bins if b.claims >= 20]
    assert len(full) >= 4
    for b in full:
        assert b.support.lower is not None and b.support.upper is not None and b.support.lower < b.support.upper


def test_confident_falsehoods_are_found() -> None:
    claims = [ClaimProbability(f"q{i}", 9, 10, 0.0 if i < 12 else 1.0) for i in range(40)]
    claims += [
        ClaimProbability("low", 1, 10, 0.0),
        ClaimProbability("u", 9, 10, None),
        ClaimProbability("own", 1, 1, 1.0, True),
    ]
    found = claim_calibration(claims, replicates=200)
    assert found.high_claims == 40 and found.confidently_false.estimate == pytest.approx(0.3)
    assert found.unscored == 1 and found.alone == 1 and found.claims == 41
    assert found.bins[9].claims == 40 and found.bins[9].expected == pytest.approx(0.9)
    assert found.bins[5].support.estimate is None


def test_the_sample_a_claim_came_from_does_not_vouch_for_it() -> None:
    assert ClaimProbability("a", 1, 5, 1.0, own=True).probability == 0.0
    assert ClaimProbability("a", 1, 5, 1.0).probability == pytest.approx(0.2)
    with pytest.raises(ValueError, match="6 of 5"):
        ClaimProbability("a", 6, 5, 1.0)
    with pytest.raises(ValueError, match=r"support is 1\.5"):
        ClaimProbability("a", 1, 5, 1.5)
    assert claim_calibration([]).error.estimate is None
