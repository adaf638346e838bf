"""Choose fusion settings by cross-validation over questions, and test the gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.retrieval.comparison import MeanEstimate, PairedDifference, Resampling, compare, estimate
from evaluation.statistics.counts import Floats
from retrieval.retrieval_params import RetrievalParams

ALPHA = 0.05
FEWEST_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class Tuning:
    """Result of tuning.

    baseline, baseline_mean: the current setting and its mean.
    chosen, chosen_mean: the best setting on all questions. Its mean is optimistic because it was chosen on them.
    held_out: mean of the cross-validated choice on held-out questions.
    gain: held_out compared with the baseline, the only test of the family.
    by_fold: setting chosen for each fold.
    settings, means: all settings of the grid and their means.
    """

    measure: str
    questions: int
    folds: int
    baseline: RetrievalParams
    baseline_mean: MeanEstimate
    chosen: RetrievalParams
    chosen_mean: float
    held_out: MeanEstimate
    gain: PairedDifference
    by_fold: tuple[RetrievalParams, ...]
    settings: tuple[RetrievalParams, ...]
    means: tuple[float, ...]

    @property
    def is_real(self) -> bool:
        """Whether the held-out gain is positive and significant at 5 %."""
        return self.gain.difference.mean > 0 and self.gain.p_value < ALPHA

    @property
    def recommended(self) -> RetrievalParams:
        """The chosen setting if the gain is real, else the current one."""
        return self.chosen if self.is_real else self.baseline


def fusion_grid(base: RetrievalParams) -> tuple[RetrievalParams, ...]:
    """Return the grid: ``base``, each retriever alone, and min-max, z-score and reciprocal rank fusion by weight.

    The grid is fixed before any measurement. Parameters other than mode, fusion and weights stay as in ``base``.
    """
    grid = [base, replace(base, mode="bm25"), replace(base, mode="dense")]
    for weight in (round(0.1 * tenth, 1) for tenth in range(1, 10)):
        grid.append(replace(base, mode="hybrid", fusion="minmax", dense_weight=weight))
        grid.append(replace(base, mode="hybrid", fusion="zscore", dense_weight=weight))
    for constant in (10.0, 60.0):
        grid.extend(
            replace(base, mode="hybrid", fusion="rrf", rrf_constant=constant, dense_weight=weight)
            for weight in (0.3, 0.4, 0.5, 0.6, 0.7)
        )
    return tuple(dict.fromkeys(grid))


def folds_of(questions: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the (Q,) folds in which questions are held out. They are random, and sizes differ by at most one."""
    order = np.random.default_rng([seed, questions, folds]).permutation(questions)
    fold = np.empty(questions, dtype=np.int64)
    fold[order] = np.arange(questions) % folds
    return fold


def tune(
    settings: Sequence[RetrievalParams],
    score: Callable[[RetrievalParams], Floats],
    measure: str,
    folds: int = 5,
    resampling: Resampling | None = None,
) -> Tuning:
    """Score every setting on every question, choose on all folds but one, and evaluate on the held-out fold.

    settings: settings to compare. The first is the baseline.
    score: returns the (Q,) values of a setting.
    measure: name of the measure, for display.

    Ties go to the earlier setting, so that a setting changes only for a higher score. Raises EvaluationError for fewer
    than 10 questions or an invalid number of folds.
    """
    resampling = resampling or Resampling()
    scores = np.stack([score(setting) for setting in settings])  # (S, Q)
    questions = scores.shape[1]
    if questions < FEWEST_QUESTIONS:
        raise EvaluationError(
            f"{questions} questions with judgements are too few to tune on: at least {FEWEST_QUESTIONS}, better 50"
        )
    if not 2 <= folds <= questions:
        raise EvaluationError(f"{folds} folds do not fit {questions} questions: choose from 2 to {questions}")
    fold = folds_of(questions, folds, resampling.seed)
    held_out = np.empty(questions)
    by_fold = []
    for one in range(folds):
        best = _best(scores[:, fold != one])
        held_out[fold == one] = scores[best, fold == one]
        by_fold.append(settings[best])
    chosen = _best(scores)
    return Tuning(
        measure=measure,
        questions=questions,
        folds=folds,
        baseline=settings[0],
        baseline_mean=estimate(scores[0], resampling),
        chosen=settings[chosen],
        chosen_mean=float(scores[chosen].mean()),
        held_out=estimate(held_out, resampling),
        gain=compare(scores[0], {"tuned": held_out}, resampling)["tuned"],
        by_fold=tuple(by_fold),
        settings=tuple(settings),
        means=tuple(float(mean) for mean in scores.mean(axis=1)),
    )


def _best(scores: Floats) -> int:
    means = scores.mean(axis=1)
    return int(np.flatnonzero(means >= means.max() - 1e-12)[0])
