"""BCa against an independent implementation, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics.bootstrap import bca_limits, question_weights, ratio_jackknife, ratio_replicates


def test_weights_draw_every_question_once_on_average_and_repeat() -> None:
    weights = question_weights(30, 500, 4)
    assert weights.shape == (500, 30)
    assert np.all(weights.sum(axis=1) == 30)
    assert np.array_equal(weights, question_weights(30, 500, 4))
    assert not np.array_equal(weights, question_weights(30, 500, 5))


def test_bca_agrees_with_scipys() -> None:
    rng = np.random.default_rng(8)
    h = rng.beta(1, 6, 60)
    ones = np.ones(60)
    ours = bca_limits(
        float(h.mean()), ratio_replicates(question_weights(60, 20000, 1), h, ones), ratio_jackknife(h, ones), 0.95
    )
    theirs = stats.bootstrap((h,), np.mean, n_resamples=20000, method="BCa", rng=np.random.default_rng(2))
    assert ours is not None
    # Both have Monte Carlo error: at 20,000 replicates a limit moves by about 0.0006 (1 sd); 0.004 is beyond 4 of them
    # for the difference of two, a false alarm below 1 in 10,000.
    assert ours.lower == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert ours.upper == pytest.approx(theirs.confidence_interval.high, abs=0.004)


def test_data_that_do_not_vary_have_no_bca_interval() -> None:
    ones = np.ones(20)
    assert (
        bca_limits(1.0, ratio_replicates(question_weights(20, 200, 0), ones, ones), ratio_jackknife(ones, ones), 0.95)
        is None
    )


def test_a_single_answering_question_has_no_jackknife() -> None:
    h, a = np.array([0.5, 0.0]), np.array([1.0, 0.0])
    assert bca_limits(0.5, ratio_replicates(question_weights(2, 200, 0), h, a), ratio_jackknife(h, a), 0.95) is None
