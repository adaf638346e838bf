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


@dataclass(frozen=True, slots=True)
class LabelSimulation:
    """Simulated runs with labels. One arm in the model: for its rate; two arms: for the difference.

    model: of the *true* question rates (a pilot by a good verifier, or corrected). questions, samples: of a run.
    Verifier errors are drawn independently for each response; if they are correlated within questions, more labels are
    needed. Raises ValueError for fewer than 10 questions or no sample.
    """

    model: QuestionModel
    questions: int
    samples: int
    level: float = 0.95
    replicates: int = 40
    seed: int = 0

    def __post_init__(self) -> None:
        if self.questions < _FEWEST or self.samples < 1:
            raise ValueError(f"{self.questions} questions of {self.samples} samples: at least {_FEWEST}, at least 1")

    def half_width(self, quality: VerifierAccuracy, labels: int) -> float:
        """Mean half-width of the headline interval over simulated runs with ``labels`` labelled questions."""
        rng = np.random.default_rng([self.seed, labels, self.questions, self.samples])
        coefficients = np.array([1.0, -1.0])[: len(self.model.rates)]
        total = 0.0
        for _ in range(self.replicates):
            sample = self._labelled(quality, labels, rng)
            if few_labels(sample, coefficients):
                estimate = labels_only(sample, coefficients, self.level)
                total += float(estimate.upper or 0.0) - float(estimate.lower or 0.0)
            else:
                found = rectified(sample, coefficients, self.level)
                total += found.upper - found.lower
        return total / self.replicates / 2.0

    def labels_for(self, quality: VerifierAccuracy, target: float) -> int | None:
        """Number of labels for this half-width; None if labelling every question does not reach it.

        Bisection between 10 labels and all, on the square root scale, where half-widths are almost linear.
        """
        if self.half_width(quality, self.questions) > target:
            return None
        low, high = _FEWEST, self.questions
        if self.half_width(quality, low) <= target:
            return low
        for _ in range(_STEPS + 1):
            if high - low <= max(1, 0.03 * low):
                break
            middle = round((low**-0.5 / 2 + high**-0.5 / 2) ** -2)
            middle = min(max(middle, low + 1), high - 1)
            if self.half_width(quality, middle) <= target:
                high = middle
            else:
                low = middle
        return high

    def _labelled(self, quality: VerifierAccuracy, labels: int, rng: np.random.Generator) -> LabelledSample:
        questions, samples = self.questions, self.samples
        labelled = rng.choice(questions, labels, replace=False)
        seen: list[Floats] = []
        verdicts: list[Floats] = []
        truth: list[Floats] = []
        for rates in self.model.draw(rng, (1, questions)):
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


def plan_labels(
    simulation: LabelSimulation,
    verifier: VerifierPilot,
    target: float,
    *,
    refits: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> LabelPlan:
    """Plan the number of labels for a half-width of ``target``. progress: called with (done, total) searches.

    Raises ValueError for a target outside (0, 1).
    """
    if not 0.0 < target < 1.0:
        raise ValueError(f"target {target}: it must be in (0, 1)")
    questions = simulation.questions
    done = 0

    def needed(quality: VerifierAccuracy) -> int | None:
        nonlocal done
        found = simulation.labels_for(quality, target)
        done += 1
        if progress is not None:
            progress(done, refits + 1)
        return found

    rng = np.random.default_rng([simulation.seed, questions, refits])
    around = sorted(needed(verifier.draw(rng)) or questions + 1 for _ in range(refits))
    low, high = (around[int(q * (refits - 1) + 0.5)] for q in (0.1, 0.9))
    return LabelPlan(
        target,
        questions,
        simulation.samples,
        needed(verifier.middle),
        None if low > questions else low,
        None if high > questions else high,
        simulation.half_width(verifier.middle, questions),
        len(simulation.model.rates) > 1,
    )
