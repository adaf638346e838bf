"""Choosing by cross-validation: finds a real gain, does not invent one, and is honest about what it chose on."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.retrieval.comparison import Resampling
from evaluation.retrieval.tuning import folds_of, fusion_grid, tune
from evaluation.statistics.counts import Floats
from retrieval.ranking.filtering import parse_filter
from retrieval.retrieval_params import RetrievalParams

FAST = Resampling(replicates=300, permutations=1000)
SETTINGS = fusion_grid(RetrievalParams())


def scorer(means: dict[int, float], noise: float, questions: int, seed: int = 0) -> dict[RetrievalParams, Floats]:
    rng = np.random.default_rng(seed)
    easy = rng.random(questions) * 0.5
    return {s: easy + means.get(i, 0.0) + noise * rng.normal(size=questions) for i, s in enumerate(SETTINGS)}


def test_the_grid_begins_with_what_is_in_force_and_keeps_the_rest_of_it() -> None:
    base = RetrievalParams(fusion="rrf", depth=50, filters=(parse_filter("a=b"),))
    grid = fusion_grid(base)
    assert grid[0] == base
    assert len(set(grid)) == len(grid) >= 30
    assert {params.mode for params in grid} == {"hybrid", "dense", "bm25"}
    assert all((params.depth, params.filters) == (50, base.filters) for params in grid)


def test_a_real_gain_is_found_and_recommended() -> None:
    table = scorer({7: 0.1}, 0.05, 100)
    found = tune(SETTINGS, table.__getitem__, "m", resampling=FAST)
    assert found.chosen == SETTINGS[7] == found.recommended
    assert found.by_fold == (SETTINGS[7],) * 5
    assert found.is_real
    assert found.held_out.mean == pytest.approx(found.chosen_mean)
    assert found.gain.difference.mean == pytest.approx(found.held_out.mean - found.baseline_mean.mean)


def test_noise_is_not_taken_for_a_gain() -> None:
    """30 settings that differ by chance: the best of them looks better, held out it does not.

    Under the null a run rejects with probability 0.025 (two-sided test at 5 %, positive side); of 30 runs more than 4
    would with probability below 0.001.
    """
    real = flattered = 0
    for seed in range(30):
        found = tune(SETTINGS, scorer({}, 0.2, 60, seed).__getitem__, "m", resampling=FAST)
        real += found.is_real
        flattered += found.chosen_mean > found.held_out.mean
        if not found.is_real:
            assert found.recommended == found.baseline
    assert real <= 4
    assert flattered >= 27


def test_equal_settings_change_nothing() -> None:
    found = tune(SETTINGS, lambda _: np.linspace(0, 1, 20), "m", resampling=FAST)
    assert found.chosen == found.recommended == SETTINGS[0]
    assert (found.gain.p_value, found.is_real) == (1.0, False)


def test_folds_are_even_repeat_and_depend_on_the_seed() -> None:
    fold = folds_of(23, 5, 0)
    assert sorted(np.bincount(fold).tolist()) == [4, 4, 5, 5, 5]
    assert fold.tolist() == folds_of(23, 5, 0).tolist() != folds_of(23, 5, 1).tolist()


def test_too_few_questions_and_folds_that_do_not_fit_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"9 questions"):
        tune(SETTINGS, lambda _: np.zeros(9), "m")
    for folds in (1, 21):
        with pytest.raises(EvaluationError, match=f"{folds} folds.*20"):
            tune(SETTINGS, lambda _: np.zeros(20), "m", folds=folds)
