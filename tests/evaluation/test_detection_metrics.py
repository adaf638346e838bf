"""Detection metrics compared with hand-computed values, O(n^2) counting, and scikit-learn if it is installed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.detection.metrics import (
    auroc,
    balanced_accuracy,
    best_threshold,
    calibration_error,
    calibration_gaps,
    confusion,
    equal_mass_bins,
    f1_hallucinated,
    weighted_auroc,
)
from evaluation.statistics.counts import Floats

# Few distinct values, so that ties are common.
SCORED = st.lists(st.tuples(st.integers(0, 6).map(lambda k: k / 6), st.booleans()), min_size=1, max_size=40)


def arrays(scored: list[tuple[float, bool]]) -> tuple[Floats, np.ndarray]:
    return np.array([s for s, _ in scored]), np.array([y for _, y in scored], dtype=np.bool_)


def ece(support: Floats, supported: np.ndarray, bins: np.ndarray) -> float:
    gaps = calibration_gaps(support, supported, bins)
    return float(calibration_error(gaps.sum(axis=0), np.array(support.size)))


def test_by_hand() -> None:
    support, supported = arrays([(0.9, True), (0.4, True), (0.4, False), (0.1, False), (0.7, False)])
    # Pairs: 0.9 beats all three; 0.4 ties, beats 0.1, loses to 0.7: (3 + 1.5) / 6.
    assert auroc(support, supported) == pytest.approx(4.5 / 6)
    cells = confusion(support, supported).sum(axis=0)
    assert cells.tolist() == [2, 1, 1, 1]
    assert balanced_accuracy(cells) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert f1_hallucinated(cells) == pytest.approx(4 / 6)


def test_exactly_one_half_is_supported() -> None:
    cells = confusion(np.array([0.5, np.nextafter(0.5, 0)]), np.array([True, False])).sum(axis=0)
    assert balanced_accuracy(cells) == 1.0


def test_one_class_is_undefined_not_zero() -> None:
    support, supported = np.array([0.9, 0.8]), np.array([True, True])
    cells = confusion(support, supported).sum(axis=0)
    assert auroc(support, supported) is None
    assert auroc(support[:0], supported[:0]) is None
    assert best_threshold(support, supported) is None
    assert np.isnan(balanced_accuracy(cells))
    assert np.isnan(f1_hallucinated(cells))


@given(SCORED)
@settings(max_examples=200, deadline=None)
def test_auroc_counts_every_pair(scored: list[tuple[float, bool]]) -> None:
    pairs = [(p > n) + (p == n) / 2 for p, yes in scored for n, other in scored if yes and not other]
    found = auroc(*arrays(scored))
    assert found == pytest.approx(sum(pairs) / len(pairs)) if pairs else found is None


@given(SCORED, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_weights_are_repetitions(scored: list[tuple[float, bool]], random: object) -> None:
    support, supported = arrays(scored)
    weights = np.random.default_rng(len(scored)).integers(0, 4, size=(3, support.size))
    found = weighted_auroc(support, supported, weights.astype(float))
    for row, value in zip(weights, found, strict=True):
        repeated = auroc(np.repeat(support, row), np.repeat(supported, row))
        assert np.isnan(value) if repeated is None else value == pytest.approx(repeated)


@given(SCORED)
@settings(max_examples=200, deadline=None)
def test_the_best_threshold_is_best(scored: list[tuple[float, bool]]) -> None:
    support, supported = arrays(scored)
    found = best_threshold(support, supported)
    if found is None:
        assert len(set(supported.tolist())) == 1
        return

    def at(threshold: float) -> float:
        return float(balanced_accuracy(confusion(support, supported, threshold).sum(axis=0)))

    assert at(found.threshold) == pytest.approx(found.balanced_accuracy)
    tried = [at(t) for t in (*np.unique(support), 0.5, 1.5)]
    assert found.balanced_accuracy >= max(tried) - 1e-12
    if at(0.5) == pytest.approx(found.balanced_accuracy):
        assert found.threshold == 0.5


def test_calibration_by_hand() -> None:
    support = np.array([0.2, 0.2, 0.8, 0.8])
    supported = np.array([False, True, True, True])
    bins = equal_mass_bins(support, 2)
    assert bins.tolist() == [0, 0, 1, 1]
    # Two of four in each bin: |1/2 - 0.2| / 2 + |1 - 0.8| / 2.
    assert ece(support, supported, bins) == pytest.approx(0.3 / 2 + 0.2 / 2)


@given(SCORED)
@settings(max_examples=100, deadline=None)
def test_calibration_is_the_weighted_gap_and_no_order_matters(scored: list[tuple[float, bool]]) -> None:
    support, supported = arrays(scored)
    bins = equal_mass_bins(support)
    expected = 0.0
    for chosen in set(bins.tolist()):
        inside = bins == chosen
        expected += inside.mean() * abs(supported[inside].mean() - support[inside].mean())
    assert ece(support, supported, bins) == pytest.approx(expected)
    assert ece(support[::-1], supported[::-1], equal_mass_bins(support[::-1])) == pytest.approx(expected)
    for one, other in itertools.combinations(range(support.size), 2):
        assert support[one] != support[other] or bins[one] == bins[other]


def test_bins_hold_equally_many() -> None:
    bins = equal_mass_bins(np.random.default_rng(0).random(1503), 15)
    assert set(np.bincount(bins).tolist()) == {100, 101}


def test_scikit_learn_agrees() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    support = rng.integers(0, 20, 500) / 20
    supported = rng.random(500) < 0.3 + 0.4 * support
    cells = confusion(support, supported).sum(axis=0)
    flagged = support < 0.5
    assert auroc(support, supported) == pytest.approx(metrics.roc_auc_score(supported, support))
    assert balanced_accuracy(cells) == pytest.approx(metrics.balanced_accuracy_score(~supported, flagged))
    assert f1_hallucinated(cells) == pytest.approx(metrics.f1_score(~supported, flagged))
