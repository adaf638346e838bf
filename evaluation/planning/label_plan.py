"""Number of labels for a target width of the corrected interval, by simulation of draw, labels and correction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.correction.figures import few_labels, labels_only
from evaluation.correction.rectified import LabelledSample, rectified
from evaluation.planning.pilot import QuestionModel
from evaluation.statistics.counts import Floats

_STEPS = 5
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class VerifierPilot:
    """Verifier quality estimated from a few labels: flagged of ``positives`` hallucinated, passed of ``negatives``."""

    caught: int
    positives: int
    passed: int
    negatives: int

    def __post_init__(self) -> None:
        if not (0 <= self.caught <= self.positives and 0 <= self.passed <= self.negatives):
            raise ValueError(f"{self.caught} of {self.positives}, {self.passed} of {self.negatives}: counts do not fit")

    def draw(self, rng: np.random.Generator) -> VerifierAccuracy:
        """Draw a sensitivity and specificity compatible with these counts (Jeffreys posterior)."""
        return VerifierAccuracy(
            float(rng.beta(self.caught + 0.5, self.positives - self.caught + 0.5)),
            float(rng.beta(self.passed + 0.5, self.negatives - self.passed + 0.5)),
        )

    @property
    def middle(self) -> VerifierAccuracy:
        """The posterior mean."""
        return VerifierAccuracy(
            (self.caught + 0.5) / (self.positives + 1.0), (self.passed + 0.5) / (self.negatives + 1.0)
        )


@dataclass(frozen=True, slots=True)
class VerifierAccuracy:
    """Share of hallucinated responses that are flagged, and of the others that are not."""

    sensitivity: float
    specificity: float


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Number of labelled questions (one response per arm each) for a mean half-width of ``target``.

    None: labelling every question does not reach the target. lower, upper: middle 80 % over the verifiers that are
    compatible with the pilot's labels. half_width_all: with every question labelled.
    """

    target: float
    questions: int
    samples: int
    labels: int | None
    lower: int | None
    upper: int | None
    half_width_all: float
    difference: bool


def plan_labels(
    model: QuestionModel,
    verifier: VerifierPilot,
    target: float,
    questions: int,
    samples: int,
    *,
    level: float = 0.95,
    replicates: int = 40,
    refits: int = 10,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> LabelPlan:
    """Plan the number of labels. One arm in the model: for its rate; two arms: for the difference.

    model: of the *true* question rates (a pilot by a good verifier, or corrected). progress: called with (done, total)
    searches.

    Verifier errors are drawn independently for each response; if they are correlated within questions, more labels are
    needed. Raises ValueError for a target outside (0, 1) or fewer than 10 questions.
    """
    if not 0.0 < target < 1.0 or questions < _FEWEST or samples < 1:
        raise ValueError(f"target {target}, {questions} questions of {samples}: in (0, 1), at least 10, at least 1")

    done = 0

    def needed(quality: VerifierAccuracy) -> int | None:
        nonlocal done
        found = _search(model, quality, target, questions, samples, level, replicates, seed)
        done += 1
        if progress is not None:
            progress(done, refits + 1)
        return found

    rng = np.random.default_rng([seed, questions, refits])
    around = sorted(needed(verifier.draw(rng)) or questions + 1 for _ in range(refits))
    low, high = (around[int(q * (refits - 1) + 0.5)] for q in (0.1, 0.9))
    everything = half_width(model, verifier.middle, questions, questions, samples, level, replicates, seed)
    return LabelPlan(
        target,
        questions,
        samples,
        needed(verifier.middle),
        None if low > questions else low,
        None if high > questions else high,
        everything,
        len(model.rates) > 1,
    )


def half_width(
    model: QuestionModel,
    quality: VerifierAccuracy,
    labels: int,
    questions: int,
    samples: int,
    level: float,
    replicates: int,
    seed: int,
) -> float:
    """Mean half-width of the headline interval over simulated runs with ``labels`` labelled questions."""
    rng = np.random.default_rng([seed, labels, questions, samples])
    coefficients = np.array([1.0, -1.0])[: len(model.rates)]
    total = 0.0
    for _ in range(replicates):
        sample = _labelled(model, quality, labels, questions, samples, rng)
        if few_labels(sample, coefficients):
            estimate = labels_only(sample, coefficients, level)
            total += float(estimate.upper or 0.0) - float(estimate.lower or 0.0)
        else:
            found = rectified(sample, coefficients, level)
            total += found.upper - found.lower
    return total / replicates / 2.0


def _labelled(
    model: QuestionModel, quality: VerifierAccuracy, labels: int, questions: int, samples: int, rng: np.random.Generator
) -> LabelledSample:
    labelled = rng.choice(questions, labels, replace=False)
    seen: list[Floats] = []
    verdicts: list[Floats] = []
    truth: list[Floats] = []
    for rates in model.draw(rng, (1, questions)):
        h = rng.random((questions, samples)) < rates[0][:, None]
        chance = rng.random((questions, samples))
        f = np.where(h, chance < quality.sensitivity, chance >= quality.specificity).astype(np.float64)
        # Samples of a question are exchangeable here, so the first is a random one.
        seen.append(f.mean(axis=1))
        verdicts.append(f[labelled, 0])
        truth.append(h[labelled, 0].astype(np.float64))
    return LabelledSample(
        np.stack(seen, axis=1),
        labelled,
        np.stack(verdicts, axis=1),
        np.stack(truth, axis=1),
        np.zeros(questions, dtype=np.intp),
    )


def _search(
    model: QuestionModel,
    quality: VerifierAccuracy,
    target: float,
    questions: int,
    samples: int,
    level: float,
    replicates: int,
    seed: int,
) -> int | None:
    """Bisection between 10 labels and all, on the square root scale, where half-widths are almost linear."""
    if half_width(model, quality, questions, questions, samples, level, replicates, seed) > target:
        return None
    low, high = _FEWEST, questions
    if half_width(model, quality, low, questions, samples, level, replicates, seed) <= target:
        return low
    for _ in range(_STEPS + 1):
        if high - low <= max(1, 0.03 * low):
            break
        middle = round((low**-0.5 / 2 + high**-0.5 / 2) ** -2)
        middle = min(max(middle, low + 1), high - 1)
        if half_width(model, quality, middle, questions, samples, level, replicates, seed) <= target:
            high = middle
        else:
            low = middle
    return high
