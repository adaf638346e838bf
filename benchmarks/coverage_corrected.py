"""Coverage of corrections by human labels: rates, differences and answered-only rates, with the chosen method and with
each method.

This is a part of python -m benchmarks.coverage. Each data set takes about 5 ms, for ten fits of lambda without
batching.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.coverage_cells import LEVEL, Cell, Tally, question_rates
from evaluation.correction.figures import few_labels, labels_only
from evaluation.correction.ratio import corrected_ratio, few_for_ratio
from evaluation.correction.rectified import LabelledSample, rectified
from evaluation.correction.rogan_gladen import Resamples, rogan_gladen
from evaluation.statistics.counts import Floats

ROGAN_GLADEN_SHARE = 10
"""One data set in this many also gets the correction of Rogan and Gladen, which has the slow bootstrap."""


@dataclass(frozen=True, slots=True)
class LabelModel:
    """Questions with labels for some of them. Errors of the verifier are independent given the truth.

    questions, samples, labelled: numbers of questions, of samples per question, and of labelled questions.
    fixed: share of questions on which only the first of two arms hallucinates; None for one arm.
    flagged: number of labelled questions drawn from those with a flagged answer; None draws uniformly.
    """

    questions: int
    samples: int
    labelled: int
    rate: float
    correlation: float
    sensitivity: float
    specificity: float
    fixed: float | None = None
    flagged: int | None = None

    def __str__(self) -> str:
        text = f"{self.labelled} labelled, rate {self.rate}, correlation {self.correlation}, "
        text += f"Se {self.sensitivity}, Sp {self.specificity}"
        text += "" if self.fixed is None else f", fixed {self.fixed}"
        return text + ("" if self.flagged is None else f", {self.flagged} of them flagged")

    def draw(self, rng: np.random.Generator) -> LabelledSample | None:
        """Draw a data set. Returns None if a stratum has too few questions."""
        n, m = self.questions, self.samples
        rates = question_rates(rng, (1, n), self.rate, self.correlation)[0]
        coin = rng.random(n) < (self.fixed or 0.0)
        arms = [rates] if self.fixed is None else [np.where(coin, 1.0, rates), np.where(coin, 0.0, rates)]
        truth = [rng.random((n, m)) < r[:, None] for r in arms]
        seen = [_seen(rng, h, self.sensitivity, self.specificity) for h in truth]
        stratum = np.zeros(n, dtype=np.intp)
        if self.flagged is None:
            place = rng.choice(n, self.labelled, replace=False)
        else:
            stratum = np.any([f.any(axis=1) for f in seen], axis=0).astype(np.intp)
            sizes = (self.labelled - self.flagged, self.flagged)
            members = [np.flatnonzero(stratum == s) for s in (0, 1)]
            if any(ids.size < take for ids, take in zip(members, sizes, strict=True)):
                return None
            place = np.concatenate(
                [rng.choice(ids, take, replace=False) for ids, take in zip(members, sizes, strict=True)]
            )
        one = rng.integers(m, size=self.labelled)
        return LabelledSample(
            np.stack([f.mean(axis=1) for f in seen], axis=1),
            place,
            np.stack([f[place, one] for f in seen], axis=1) * 1.0,
            np.stack([h[place, one] for h in truth], axis=1) * 1.0,
            stratum,
        )


@dataclass(frozen=True, slots=True)
class AnswerModel:
    """Responses that may abstain. They answer with probability ``answers``; answers hallucinate with probability
    ``rate``.

    The verifier confuses abstentions and answers with probability ``misread``.
    """

    questions: int
    samples: int
    labelled: int
    rate: float
    correlation: float
    answers: float
    sensitivity: float
    specificity: float
    misread: float

    def __str__(self) -> str:
        text = f"{self.labelled} labelled, rate {self.rate}, correlation {self.correlation}, answers {self.answers}, "
        return text + f"Se {self.sensitivity}, Sp {self.specificity}, misread {self.misread}"

    def draw(self, rng: np.random.Generator) -> LabelledSample:
        n, m = self.questions, self.samples
        answered = rng.random((n, m)) < question_rates(rng, (1, n), self.answers, 0.5)[0][:, None]
        hallucinated = answered & (
            rng.random((n, m)) < question_rates(rng, (1, n), self.rate, self.correlation)[0][:, None]
        )
        judged_answered = answered ^ (rng.random((n, m)) < self.misread)
        flagged = judged_answered & (_seen(rng, hallucinated, self.sensitivity, self.specificity) > 0)
        place, one = rng.choice(n, self.labelled, replace=False), rng.integers(m, size=self.labelled)
        both, truth = (flagged, judged_answered), (hallucinated, answered)
        return LabelledSample(
            np.stack([v.mean(axis=1) for v in both], axis=1),
            place,
            np.stack([v[place, one] for v in both], axis=1) * 1.0,
            np.stack([v[place, one] for v in truth], axis=1) * 1.0,
            np.zeros(n, dtype=np.intp),
        )


RATES = (
    LabelModel(60, 1, 30, 0.5, 1.0, 0.95, 0.95),
    LabelModel(100, 4, 50, 0.3, 0.5, 0.8, 0.8),
    LabelModel(200, 4, 60, 0.2, 0.5, 0.9, 0.9),
    LabelModel(200, 4, 60, 0.2, 0.5, 0.6, 0.7),
    LabelModel(200, 4, 100, 0.1, 0.5, 0.9, 0.97),
    LabelModel(200, 1, 200, 0.05, 1.0, 0.9, 0.97),
    LabelModel(200, 4, 100, 0.9, 0.5, 0.95, 0.8),
    LabelModel(500, 4, 200, 0.05, 0.5, 0.9, 0.98),
    LabelModel(500, 8, 200, 0.5, 0.9, 0.97, 0.98),
    LabelModel(1000, 8, 100, 0.3, 0.3, 0.9, 0.9),
    LabelModel(1000, 8, 300, 0.05, 0.3, 0.8, 0.99),
    LabelModel(1000, 4, 400, 0.03, 1.0, 0.8, 0.995),
    LabelModel(1000, 8, 300, 0.1, 0.5, 0.5, 0.999),
    LabelModel(1000, 8, 300, 0.1, 0.5, 0.3, 1.0),
    LabelModel(2000, 8, 400, 0.1, 0.5, 0.6, 1.0),
    LabelModel(500, 4, 100, 0.1, 0.3, 0.9, 0.95, None, 60),
    LabelModel(1000, 4, 200, 0.05, 0.5, 0.8, 0.99, None, 120),
)
DIFFERENCES = (
    LabelModel(100, 4, 60, 0.3, 0.5, 0.85, 0.85, 0.1),
    LabelModel(200, 4, 100, 0.3, 0.5, 0.9, 0.9, 0.1),
    LabelModel(200, 1, 200, 0.2, 1.0, 0.9, 0.9, 0.05),
    LabelModel(500, 4, 200, 0.3, 0.5, 0.95, 0.95, 0.05),
    LabelModel(500, 4, 200, 0.5, 1.0, 0.97, 0.97, 0.05),
    LabelModel(1000, 8, 300, 0.5, 1.0, 0.97, 0.97, 0.1),
    LabelModel(1000, 8, 100, 0.2, 0.5, 0.9, 0.9, 0.0),
    LabelModel(500, 4, 120, 0.1, 0.3, 0.9, 0.95, 0.1, 80),
)
ANSWERED = (
    AnswerModel(200, 4, 100, 0.3, 0.5, 0.6, 0.85, 0.9, 0.03),
    AnswerModel(500, 4, 150, 0.1, 0.3, 0.8, 0.9, 0.95, 0.02),
    AnswerModel(500, 4, 200, 0.5, 0.8, 0.4, 0.9, 0.9, 0.0),
    AnswerModel(1000, 8, 300, 0.2, 0.5, 0.3, 0.8, 0.95, 0.05),
)


def corrected_cells(replicates: int, seed: int) -> list[Cell]:
    """Return every cell: the headline, which chooses between two methods; each method where it is chosen; and
    Rogan-Gladen.
    """
    cells: list[Cell] = []
    for number, model in enumerate((*RATES, *DIFFERENCES)):
        cells += labelled(np.random.default_rng([seed, 1, number]), replicates, model)
    for number, answers in enumerate(ANSWERED):
        cells += labelled_answers(np.random.default_rng([seed, 2, number]), replicates, answers)
    return cells


def labelled(rng: np.random.Generator, replicates: int, model: LabelModel) -> list[Cell]:
    """Return the cells of a label model: of a rate, or of a difference if it has two arms."""
    two = model.fixed is not None
    what = "corrected difference" if two else "corrected rate"
    truth = model.fixed if model.fixed is not None else model.rate
    coefficients = np.array([1.0, -1.0]) if two else np.ones(1)
    tallies = {
        kind: Tally(f"{what}{kind}", str(model), model.questions, model.samples, truth)
        for kind in (" (headline)", ", rectified where chosen", ", labels only where chosen", ", Rogan-Gladen")
    }
    for number in range(replicates):
        sample = model.draw(rng)
        if sample is None:
            continue
        if few_labels(sample, coefficients):
            estimate = labels_only(sample, coefficients, LEVEL)
            lower, upper = _arrays(estimate.lower, estimate.upper)
            chosen = ", labels only where chosen"
        else:
            estimate_of_rate = rectified(sample, coefficients, LEVEL, number)
            lower, upper = _arrays(estimate_of_rate.lower, estimate_of_rate.upper)
            chosen = ", rectified where chosen"
        tallies[" (headline)"].add(lower, upper)
        tallies[chosen].add(lower, upper)
        if not two and number % ROGAN_GLADEN_SHARE == 0:
            rate = rogan_gladen(sample, 0, LEVEL, Resamples(number, 1000)).rate
            if rate.rate is not None:
                tallies[", Rogan-Gladen"].add(*_arrays(rate.lower, rate.upper))
    return [c for t in tallies.values() if (c := t.cell())]


def labelled_answers(rng: np.random.Generator, replicates: int, model: AnswerModel) -> list[Cell]:
    """Return the cell of the corrected ratio, on data sets where it is the headline.

    Where labels alone are the headline, benchmarks.coverage covers that interval.
    """
    kind = "corrected answered-only, rectified where chosen"
    tally = Tally(kind, str(model), model.questions, model.samples, model.rate)
    for number in range(replicates):
        sample = model.draw(rng)
        if few_for_ratio(sample, 10, 5):
            continue
        ratio = corrected_ratio(sample, LEVEL, number, 10)
        if ratio is not None:
            tally.add(*_arrays(ratio.lower, ratio.upper))
    return [c for c in (tally.cell(),) if c]


def _seen(rng: np.random.Generator, truth: np.ndarray, sensitivity: float, specificity: float) -> Floats:
    chance = rng.random(truth.shape)
    return np.where(truth, chance < sensitivity, chance >= specificity).astype(np.float64)


def _arrays(lower: float | None, upper: float | None) -> tuple[Floats, Floats]:
    return np.array([-1.0 if lower is None else lower]), np.array([1.0 if upper is None else upper])
