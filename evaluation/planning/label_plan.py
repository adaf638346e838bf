"""Plan the number of labels for a target width of the corrected interval, by simulation."""

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
    """Counts of a verifier's verdicts on a few labelled responses.

    caught: number of the ``positives`` hallucinated responses that the verifier flags.
    passed: number of the ``negatives`` other responses that it does not flag.
    """

    caught: int
    positives: int
    passed: int
    negatives: int

    def __post_init__(self) -> None:
        if not (0 <= self.caught <= self.positives and 0 <= self.passed <= self.negatives):
            raise ValueError(
                f"{self.caught} of {self.positives}, {self.passed} of {self.negatives}: a part exceeds its total"
            )

    def draw(self, rng: np.random.Generator) -> VerifierAccuracy:
        """Draw a sensitivity and a specificity that are compatible with these counts (Jeffreys posterior)."""
        return VerifierAccuracy(
            float(rng.beta(self.caught + 0.5, self.positives - self.caught + 0.5)),
            float(rng.beta(self.passed + 0.5, self.negatives - self.passed + 0.5)),
        )

    @property
    def middle(self) -> VerifierAccuracy:
        """Posterior mean of sensitivity and specificity."""
        return VerifierAccuracy(
            (self.caught + 0.5) / (self.positives + 1.0), (self.passed + 0.5) / (self.negatives + 1.0)
        )


@dataclass(frozen=True, slots=True)
class VerifierAccuracy:
    """Accuracy of a verifier.

    sensitivity: share of the hallucinated responses that are flagged. specificity: share of the others that are not.
    """

    sensitivity: float
    specificity: float


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """Number of labelled questions, with one response per arm each, for a mean half-width of ``target``.

    questions, samples: number of questions of the run, and of samples per question.
    labels: number of labelled questions; None if labelling every question does not reach the target.
    lower, upper: middle 80 % of that number over the verifiers that are compatible with the pilot's labels.
    half_width_all: mean half-width with every question labelled.
    difference: whether the plan is for the difference of two arms.
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
    """A simulation of runs with labels, for the rate of one arm or the difference of two arms (by the model).

    model: model of the *true* question rates (from a pilot by a good verifier, or from a corrected one).
    questions, samples: number of questions of a run, and of samples per question.
    level: level of the intervals.
    replicates: number of simulated runs.

    Verifier errors are drawn independently for each response. If they are correlated within questions, more labels are
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
            raise ValueError(
                f"{self.questions} questions with {self.samples} samples: at least {_FEWEST} and 1 are needed"
            )

    def half_width(self, quality: VerifierAccuracy, labels: int) -> float:
        """Return the mean half-width of the headline interval over simulated runs with this number of labels."""
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
        """Return the number of labels for this half-width; None if labelling every question does not reach it.

        The search is a bisection between 10 labels and all, in 1 / sqrt(labels), in which half-widths are almost
        linear.
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
            # Samples of a question are exchangeable here, so the first one counts as a random one.
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
    """Plan the number of labels for a half-width of ``target``.

    refits: number of verifiers drawn for the range.
    progress: called with (done, total) searches.

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
    estimates = sorted(needed(verifier.draw(rng)) or questions + 1 for _ in range(refits))
    low, high = (estimates[int(q * (refits - 1) + 0.5)] for q in (0.1, 0.9))
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
