"""Evaluate signals as detectors of hallucinated answers: AUROC, AUPR and risk-coverage, with bootstrap intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.detection.intervals import Draws, ScoreEstimate, share_estimate, undefined
from evaluation.detection.metrics import Bools, Ints, auroc, weighted_auroc
from evaluation.reading.risk_coverage import RiskCoverage, risk_coverage
from evaluation.signals.samples import SignalValue
from evaluation.statistics.counts import Floats


@dataclass(frozen=True, slots=True)
class SignalRow:
    """Value of a signal for one question.

    hallucinated: whether the question's low-temperature answer is hallucinated; None without such a verdict.
    """

    question_id: str
    value: SignalValue
    hallucinated: bool | None


@dataclass(frozen=True, slots=True)
class DetectorScores:
    """Scores of one signal against the verdicts of the low-temperature answers.

    questions, hallucinated: numbers of judged answers with the signal, and of hallucinated ones among them.
    base_rate: hallucinated share of these answers, which is the average precision of a random order; None without
        answers.
    auroc: probability that a hallucinated answer has a higher value than a supported one.
    aupr: average precision for hallucinated answers.
    area: area under the risk-coverage curve (AURC).
    curve: risk-coverage curve, with the areas of a perfect and a random order; None without answers.
    absent: (reason, number) of answers without the signal.
    unjudged: number of answers that are neither supported nor hallucinated.
    """

    signal: str
    questions: int
    hallucinated: int
    base_rate: float | None
    auroc: ScoreEstimate
    aupr: ScoreEstimate
    area: ScoreEstimate
    curve: RiskCoverage | None
    absent: tuple[tuple[str, int], ...]
    unjudged: int


def detector_scores(signal: str, rows: Sequence[SignalRow], seed: int = 0, replicates: int = 2000) -> DetectorScores:
    """Evaluate one signal. Higher values must mean hallucinated. The bootstrap resamples complete questions."""
    judged = [r for r in rows if r.hallucinated is not None]
    usable = [r for r in judged if r.value.value is not None]
    absent = Counter(r.value.reason for r in judged if r.value.value is None)
    if not usable:
        nothing = undefined("no judged answer has this signal")
        return DetectorScores(
            signal, 0, 0, None, nothing, nothing, nothing, None, tuple(absent.most_common()), len(rows) - len(judged)
        )
    values = np.array([r.value.value for r in usable], dtype=np.float64)
    bad = np.array([bool(r.hallucinated) for r in usable])
    names = {q: i for i, q in enumerate(dict.fromkeys(r.question_id for r in usable))}
    group = np.array([names[r.question_id] for r in usable], dtype=np.intp)
    draws = Draws(len(names), seed, replicates)
    curve = risk_coverage([float(-v) for v in values], [float(b) for b in bad])
    area = draws.over(lambda w: weighted_risk_area(values, bad, w[:, group]), values.size)
    found_auroc, found_aupr = _areas(values, bad, group, draws)
    return DetectorScores(
        signal,
        len(usable),
        int(bad.sum()),
        float(bad.mean()),
        found_auroc,
        found_aupr,
        share_estimate(curve.area, area, min(int(bad.sum()), int((~bad).sum())), len(names)),
        curve,
        tuple(absent.most_common()),
        len(rows) - len(judged),
    )


def weighted_average_precision(values: Floats, positive: Bools, weights: Floats) -> Floats:
    """Return the average precision in each resample: (n,), (n,), (B, n) -> (B,); NaN without a positive.

    This is the sum over distinct values, highest first, of (gain in recall) x precision. Ties count together, as in
    scikit-learn's average_precision_score. There is no interpolation (Davis and Goadrich 2006 explain why).
    """
    order = np.argsort(-values, kind="stable")
    ends = _tie_ends(values[order])
    w = weights[:, order]
    gained = np.cumsum(np.where(positive[order], w, 0.0), axis=1)[:, ends]
    taken = np.cumsum(w, axis=1)[:, ends]
    total = gained[:, -1]
    precision = np.divide(gained, taken, out=np.zeros_like(gained), where=taken > 0)
    summed = (np.diff(gained, axis=1, prepend=0.0) * precision).sum(axis=1)
    result: Floats = np.divide(summed, total, out=np.full_like(summed, np.nan), where=total > 0)
    return result


def weighted_risk_area(values: Floats, bad: Bools, weights: Floats) -> Floats:
    """Return the area of evaluation.reading.risk_coverage with each answer counted weights[b, i] times: (B,).

    Answers with lower values come first. Within a tie every answer has the tie's mean loss, and each repetition of an
    answer is a step of the curve. The risk after j of the T answers in a tie is (L + j m) / (A + j), where L and A are
    the loss and the number of answers before the tie, and m is the tie's mean loss.
    """
    order = np.argsort(values, kind="stable")
    ends = _tie_ends(values[order])
    w = weights[:, order]
    after = np.cumsum(w, axis=1)[:, ends]
    losses = np.cumsum(np.where(bad[order], w, 0.0), axis=1)[:, ends]
    before = np.concatenate([np.zeros((len(w), 1)), after[:, :-1]], axis=1)
    losses_before = np.concatenate([np.zeros((len(w), 1)), losses[:, :-1]], axis=1)
    count = after - before
    mean = np.divide(losses - losses_before, count, out=np.zeros_like(count), where=count > 0)
    # sum_{j=1..T} (L + j m) / (A + j) = T m + (L - A m) (H_{A+T} - H_A), where H are the harmonic numbers.
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int(after[:, -1].max()) + 1))])
    difference = harmonic[after.astype(np.intp)] - harmonic[before.astype(np.intp)]
    summed = (count * mean + (losses_before - before * mean) * difference).sum(axis=1)
    result: Floats = summed / after[:, -1]
    return result


def _tie_ends(ordered: Floats) -> Ints:
    """Return the index of the last of each sequence of equal values: (n,) -> (distinct,)."""
    result: Ints = np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], True])
    return result


def _areas(values: Floats, bad: Bools, group: Ints, draws: Draws) -> tuple[ScoreEstimate, ScoreEstimate]:
    value = auroc(-values, ~bad)
    if value is None:
        one = undefined(
            f"every answer is {'hallucinated' if bad.all() else 'supported'}, so the classes cannot be compared"
        )
        return one, one
    carrying = min(int(bad.sum()), int((~bad).sum()))
    area = draws.over(lambda w: weighted_auroc(-values, ~bad, w[:, group]), values.size)
    precision = draws.over(lambda w: weighted_average_precision(values, bad, w[:, group]), values.size)
    average = float(weighted_average_precision(values, bad, np.ones((1, values.size)))[0])
    return (
        share_estimate(value, area, carrying, draws.groups),
        share_estimate(average, precision, carrying, draws.groups),
    )
