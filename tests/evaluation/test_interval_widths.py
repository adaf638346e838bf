"""No estimator gives an interval of no width, however extreme the data; what nothing bounds has no limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evaluation.correction.agreement import agreement
from evaluation.correction.corrected import CorrectedSettings, correct
from evaluation.correction.labelled_run import LabelledRun
from evaluation.detection.intervals import CONSTANT, error_estimate, mean_of_ratios, rate_estimate, share_estimate
from evaluation.reports.limits_text import limits_text
from evaluation.reports.report_view import interval
from evaluation.statistics.bootstrap import bca_limits
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.estimates import HallucinationEstimate, Measurement
from evaluation.statistics.intervals import NO_WIDTH
from evaluation.statistics.measure import Settings
from evaluation.statistics.paired import ratio_difference_limits
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import summarise

QUICK = Settings(bootstrap=100, permutations=99)
WORDS = {"h": "hallucinated", "s": "supported", "a": "abstained", "u": "unscored"}


def summary_of(arms: dict[str, list[str]]) -> RunSummary:
    """A run of arms whose questions have samples with these outcomes, a letter each."""
    records = [
        OutcomeRecord(f"q{number}", arm, sample, WORDS[letter])  # type: ignore[arg-type]
        for arm, questions in arms.items()
        for number, letters in enumerate(questions)
        for sample, letter in enumerate(letters)
    ]
    return summarise(OutcomeTable.from_records(records), "one", [("one", "two")], QUICK)


def estimates(summary: RunSummary) -> list[HallucinationEstimate]:
    found: list[Measurement] = []
    for arm in summary.arms:
        found += [arm.hallucinated, arm.supported, arm.abstained, arm.unscored, arm.hall_answered, arm.hall_scored]
    for pair in summary.pairs:
        both = pair.both_answered
        found += [pair.difference, pair.fixed, pair.broken, pair.answered_difference]
        found += [both.baseline, both.other, both.fixed, both.broken, both.difference]
    plain = [e for m in found for e in (m.default, m.clustered_t, m.bca)]
    return plain + [e for a in summary.arms for e in (a.hall_if_unscored_supported, a.hall_if_unscored_hallucinated)]


@pytest.mark.parametrize("questions", [1, 2, 15, 40])
@pytest.mark.parametrize(("one", "two"), list(itertools.product(("hh", "ss", "hs", "aa", "uu", "hu", "ha"), repeat=2)))
def test_runs_without_variation(one: str, two: str, questions: int) -> None:
    for estimate in estimates(summary_of({"one": [one] * questions, "two": [two] * questions})):
        wide_or_undefined(estimate)


def test_arms_that_differ_alike_on_every_question() -> None:
    low = [2, 6] * 15
    shares = [np.array([value / 10 for value in low]), np.array([(value + 2) / 10 for value in low])]
    ones = np.ones(len(low))
    limits = ratio_difference_limits(shares[1], ones, 300.0, shares[0], ones, 300.0, 0.95)
    assert float(limits.upper) - float(limits.lower) > 0.02
    arms = [["h" * value + "s" * (10 - value) for value in values] for values in (low, [v + 2 for v in low])]
    for estimate in estimates(summary_of({"one": arms[1], "two": arms[0]})):
        wide_or_undefined(estimate)


def wide_or_undefined(estimate: HallucinationEstimate) -> None:
    if estimate.rate is None:
        assert estimate.reason
        return
    assert estimate.lower is not None and estimate.upper is not None
    assert estimate.upper - estimate.lower > 1e-3, estimate
    low, high = interval(estimate).strip("[]").split(", ")
    assert low != high


def labelled(rng: np.random.Generator, questions: int, drawn: int) -> LabelledRun:
    """Two arms whose verifier and labels are certain, split or noisy, each at random."""

    def outcomes(rows: int) -> np.ndarray:
        levels = rng.choice([0.0, 0.02, 0.5, 0.98, 1.0], size=2)
        chosen = (rng.random((rows, 2)) >= levels).astype(int)
        return np.eye(4)[np.where(rng.random((rows, 2)) < rng.choice([0.0, 0.3]), 2, chosen)]

    shares = outcomes(questions)
    verdicts = shares[:drawn]
    labels = verdicts.copy() if rng.random() < 0.4 else outcomes(drawn)
    names = tuple(f"q{i}" for i in range(questions))
    place = np.arange(drawn)
    stratum = np.zeros(questions, dtype=np.intp)
    return LabelledRun(("one", "two"), names, shares, place, verdicts, labels, stratum, (questions, questions))


def test_corrected_figures_of_extreme_labels() -> None:
    rng = np.random.default_rng(8)
    settings = CorrectedSettings(bootstrap=100, folds=3)
    defined = 0
    for _ in range(120):
        questions = int(rng.choice([5, 15, 200]))
        run = labelled(rng, questions, int(min(questions, rng.choice([5, 15, 60]))))
        found = correct(run, [("one", "two")], settings)
        corrected = [c for a in found.arms for c in (a.hallucinated, a.answered)]
        corrected += [p.difference for p in found.pairs]
        every = [e for c in corrected for e in (c.rectified, c.labels_only)]
        every += [a.rogan_gladen.rate for a in found.arms] + [p.rogan_gladen for p in found.pairs]
        every += [e for a in found.arms for e in (a.rogan_gladen.quality.sensitivity, a.if_undecided_hallucinated)]
        for estimate in every:
            wide_or_undefined(estimate)
            defined += estimate.rate is not None
    assert defined > 1000


def test_resamples_that_agree_bound_nothing() -> None:
    same = np.full(50, 0.7)
    almost = np.array([0.0] * 60 + [0.4])
    for found in (share_estimate(0.7, same, 20, 20), error_estimate(0.0, almost, 20), error_estimate(0.7, same, 20)):
        assert (found.lower, found.upper, found.reason) == (None, None, CONSTANT)
    assert rate_estimate([4] * 6, [2.0] * 6, "pairs").lower is None
    mixed = rate_estimate([4] * 6, [2.0, 2.5, 1.5, 2.0, 2.2, 2.1], "pairs")
    assert mixed.lower is not None and mixed.upper is not None and mixed.upper > mixed.lower
    hits, counts = np.array([1.0, 0.0] * 10), np.ones(20)
    mean = mean_of_ratios((hits, counts), (1.0 - hits, counts))
    assert mean.lower is None or (mean.upper or 0.0) - mean.lower > NO_WIDTH
    tied = np.array([0.0] * 99 + [1.0])
    assert bca_limits(0.0, tied, np.array([0.0] * 9 + [0.1]), 0.5) is None


def test_annotators_who_never_differ_have_no_limits() -> None:
    labels = {f"r{i}": "supported" if i % 2 else "hallucinated" for i in range(20)}
    for found in agreement({"ann": labels, "ben": labels}, replicates=50):
        assert (found.value, found.lower, found.upper) == (1.0, None, None) and found.reason


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [
        (0.081, 0.179, "[8.1, 17.9]"),
        (0.99963, 1.0, "[99.96, 100.00]"),
        (0.0, 0.0000369, "[0.000, 0.004]"),
        (0.25001, 0.25004, "[25.001, 25.004]"),
    ],
)
def test_limits_that_differ_are_not_printed_alike(lower: float, upper: float, shown: str) -> None:
    assert limits_text(lower, upper) == shown
