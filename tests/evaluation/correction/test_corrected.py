"""Labels joined with a run, the choice of the estimate, Rogan and Gladen's correction, and invalid input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.correction.corrected import CorrectedSettings, correct
from evaluation.correction.labelled_run import LabelledRun, ResponseKey, join_labels
from evaluation.correction.rogan_gladen import Resamples, corrected_prevalence, rogan_gladen
from evaluation.correction.sampling import LabelDraw, draw_labels, strata_by_verdict
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome
from evaluation.statistics.counts import OutcomeRecord
from evaluation.statistics.estimates import HallucinationEstimate

ARMS = ("closed_book", "rag")
QUICK = CorrectedSettings(bootstrap=300)


class Simulated:
    """A run whose responses have a truth that the verifier misses with probability ``error``."""

    def __init__(self, questions: int, error: float, seed: int = 3) -> None:
        rng = np.random.default_rng(seed)
        self.records: list[OutcomeRecord] = []
        self.truth: dict[ResponseKey, Outcome] = {}
        for q in range(questions):
            for arm, rate in zip(ARMS, (0.5, 0.3), strict=True):
                own = rng.beta(2 * rate, 2 * (1 - rate))
                for s in range(3):
                    key = (f"q{q:03d}", arm, s)
                    abstained, bad = rng.random() < 0.15, rng.random() < own
                    self.truth[key] = "abstained" if abstained else "hallucinated" if bad else "supported"
                    seen = self.truth[key]
                    if not abstained and rng.random() < error:
                        seen = "supported" if seen == "hallucinated" else "hallucinated"
                    self.records.append(OutcomeRecord(*key, seen))

    def labels(self, draw: LabelDraw) -> dict[ResponseKey, Outcome]:
        keys = [(q.question_id, s.arm, s.sample) for q in draw.questions for s in q.samples]
        return {key: self.truth[key] for key in keys}

    def joined(self, labelled: int, stratified: bool = False) -> LabelledRun:
        strata = strata_by_verdict(self.records) if stratified else None
        draw = draw_labels(self.records, ARMS, labelled, 7, strata, "equal")
        return join_labels(self.records, draw, self.labels(draw))


@pytest.mark.parametrize("stratified", [False, True])
def test_corrected_rates_stand_beside_the_uncorrected(stratified: bool) -> None:
    run = Simulated(200, 0.15).joined(100, stratified)
    found = correct(run, [ARMS], QUICK)
    closed, rag = found.arms
    assert found.population == 200 and closed.labelled == 100 and closed.disagreements >= 5
    for arm, truth in ((closed, 0.5 * 0.85), (rag, 0.3 * 0.85)):
        assert arm.hallucinated.headline == "rectified" and arm.hallucinated.estimate.reliable
        for estimate in (arm.hallucinated.estimate, arm.hallucinated.labels_only, arm.rogan_gladen.rate):
            # Five standard errors of the widest of them: false alarm below 1e-5 for a fixed seed.
            assert estimate.rate == pytest.approx(truth, abs=0.25)
        assert arm.answered.estimate.rate == pytest.approx(truth / 0.85, abs=0.25)
        quality = arm.rogan_gladen.quality
        assert quality.sensitivity.rate == pytest.approx(0.85, abs=0.35) and quality.youden_lower is not None
    pair = found.pairs[0]
    assert pair.difference.estimate.rate == pytest.approx(0.17, abs=0.3)
    assert pair.difference.rectified.method == "rectified_t" and pair.rogan_gladen.rate is not None
    json.dumps(found.to_json(), allow_nan=False)


def test_labels_narrow_with_the_verifier_and_never_without_reason() -> None:
    good = correct(Simulated(300, 0.08).joined(150), [ARMS], QUICK)
    for arm in good.arms:
        rectified, labels = arm.hallucinated.rectified, arm.hallucinated.labels_only
        assert width(rectified) < width(labels) and all(0.3 < v <= 1 for v in arm.hallucinated.lambdas)
    assert good == correct(Simulated(300, 0.08).joined(150), [ARMS], QUICK)


def width(estimate: HallucinationEstimate) -> float:
    assert estimate.lower is not None and estimate.upper is not None
    return estimate.upper - estimate.lower


def test_a_verifier_that_is_always_right_gives_the_labels_only_interval() -> None:
    run = Simulated(200, 0.0).joined(60)
    arm = correct(run, (), QUICK).arms[0]
    assert arm.hallucinated.headline == "labels_only" and "verifier is wrong" in arm.hallucinated.headline_reason
    exact = stats.binomtest(arm.positives, 60).proportion_ci(0.95, method="exact")
    got = arm.hallucinated.estimate
    assert (got.lower, got.upper) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert not arm.hallucinated.rectified.reliable


@pytest.mark.parametrize("kind", ["hallucinated", "supported", "abstained", "unscored"])
def test_one_label_for_all(kind: Outcome) -> None:
    simulated = Simulated(30, 0.1)
    draw = draw_labels(simulated.records, ARMS, 12, 7)
    run = join_labels(simulated.records, draw, dict.fromkeys(simulated.labels(draw), kind))
    found = correct(run, [ARMS], QUICK)
    arm = found.arms[0]
    assert arm.hallucinated.headline == "labels_only" and arm.rogan_gladen.rate.rate is None
    assert arm.hallucinated.estimate.rate == (1.0 if kind == "hallucinated" else 0.0)
    assert arm.answered.estimate.rate == {"hallucinated": 1.0, "supported": 0.0}.get(kind)
    assert found.pairs[0].rogan_gladen.rate is None and width(found.pairs[0].difference.estimate) > 0
    assert arm.if_undecided_hallucinated.rate == (1.0 if kind in ("hallucinated", "unscored") else 0.0)
    json.dumps(found.to_json(), allow_nan=False)


def test_rogan_gladen_in_closed_form() -> None:
    # Seen 0.2, sensitivity 0.9, specificity 0.95: 0.15 / 0.85. At or below chance there is none.
    one = np.ones(1)
    assert float(corrected_prevalence(one * 0.2, one * 0.9, one * 0.95)[0]) == pytest.approx(0.15 / 0.85)
    assert float(corrected_prevalence(one * 0.02, one * 0.9, one * 0.95)[0]) == 0.0
    assert np.isnan(corrected_prevalence(one * 0.2, one * 0.5, one * 0.5)[0])


def test_a_verifier_that_may_know_nothing_corrects_nothing() -> None:
    arm = correct(Simulated(200, 0.5).joined(60), (), QUICK).arms[0]
    assert arm.rogan_gladen.rate.rate is None and "no better than chance" in arm.rogan_gladen.rate.reason
    assert arm.hallucinated.rectified.rate is not None


def test_rogan_gladen_covers(world: Any) -> None:
    # 100 data sets: at a coverage of 0.95 more than 14 misses have probability 1 in 8,000, and the seeds are fixed.
    covered = seen = 0
    for seed in range(100):
        rate = rogan_gladen(world(300, 2, 120, 0.3, 0.5, 0.85, 0.9).draw(seed), 0, 0.95, Resamples(seed, 200)).rate
        if rate.rate is not None and rate.lower is not None and rate.upper is not None:
            seen += 1
            covered += rate.lower <= 0.3 <= rate.upper
    assert seen > 95 and covered / seen >= 0.85


def test_what_does_not_fit_is_named() -> None:
    simulated = Simulated(20, 0.1)
    draw = draw_labels(simulated.records, ARMS, 6, 7)
    labels = simulated.labels(draw)
    first = next(iter(labels))
    with pytest.raises(EvaluationError, match="no label"):
        join_labels(simulated.records, draw, {k: v for k, v in labels.items() if k != first})
    with pytest.raises(EvaluationError, match=r"not drawn.*'zzz'"):
        join_labels(simulated.records, draw, {**labels, ("zzz", "rag", 0): "supported"})
    wrong: Any = "true"
    with pytest.raises(EvaluationError, match="'true'"):
        join_labels(simulated.records, draw, {**labels, first: wrong})
    with pytest.raises(EvaluationError, match=r"20.*19"):
        join_labels([r for r in simulated.records if r.question_id != "q000"], draw, labels)
    with pytest.raises(EvaluationError, match="not in the run"):
        gone = [r for r in simulated.records if (r.question_id, r.arm, r.sample) != first]
        join_labels(gone, draw, labels)
    with pytest.raises(EvaluationError, match="'oracle'"):
        correct(join_labels(simulated.records, draw, labels), [("rag", "oracle")], QUICK)
    with pytest.raises(ValueError, match=r"level.*1\.5"):
        CorrectedSettings(level=1.5)
