"""Positions of unsupported claims in a response: the share at each position, and the position of the first one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.drift.sequences import Sequences
from evaluation.statistics.bands import Band, rate_band
from evaluation.statistics.bootstrap import Interval, bca_limits, ratio_jackknife, ratio_replicates
from evaluation.statistics.counts import Floats
from evaluation.statistics.measure import Resampler


@dataclass(frozen=True, slots=True)
class PositionCurve:
    """Rate at each position in a response.

    band: rate at each of positions 1..K with simultaneous limits. responses, questions: numbers scored (or at risk) at
    each position. Only longer responses have later positions, so a rise may be due to them and not to the position.
    """

    band: Band
    responses: tuple[int, ...]
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PositionTrend:
    """Slope of the unsupported share over positions within a question, per claim; BCa limits over questions."""

    slope: float | None
    lower: float | None
    upper: float | None
    reason: str = ""


def unsupported_by_position(sequences: Sequences, resampler: Resampler, most: int = 30) -> PositionCurve:
    """Compute the unsupported share of scored claims at positions 1..``most``, as ratios of totals by question."""
    k = min(most, sequences.scored.shape[1])
    return _curve(sequences, sequences.unsupported[:, :k], sequences.scored[:, :k], resampler)


def first_unsupported(sequences: Sequences, resampler: Resampler, most: int = 30) -> PositionCurve:
    """Compute the share of responses whose first unsupported claim is the k-th, of those without one before (a hazard).

    A response is censored at its first unscored claim and at its end.
    """
    k = min(most, sequences.scored.shape[1])
    clean = (sequences.scored > 0) & (sequences.unsupported == 0)
    before = np.concatenate([np.ones((len(clean), 1)), np.cumprod(clean[:, :-1], axis=1)], axis=1)
    at_risk = (before * sequences.scored)[:, :k]
    return _curve(sequences, at_risk * sequences.unsupported[:, :k], at_risk, resampler)


def never_unsupported(hazard: PositionCurve) -> tuple[float | None, ...]:
    """Return the share without an unsupported claim up to each position: prod (1 - hazard) (Kaplan and Meier 1958)."""
    left: list[float | None] = []
    share: float | None = 1.0
    for rate in hazard.band.rates:
        share = None if share is None or rate is None else share * (1.0 - rate)
        left.append(share)
    return tuple(left)


def position_trend(sequences: Sequences, resampler: Resampler) -> PositionTrend:
    """Fit the least-squares slope of unsupported on position, centred within responses, with BCa limits by question.

    It is the sum of d_k y_k over the sum of d_k^2, d_k the position minus its mean over the response's scored claims. A
    different level of longer responses does not affect the slope.
    """
    positions = np.arange(sequences.scored.shape[1], dtype=np.float64) * sequences.scored
    counts = sequences.scored.sum(axis=1, keepdims=True)
    centred = (positions - positions.sum(axis=1, keepdims=True) / np.maximum(counts, 1.0)) * sequences.scored
    top = sequences.by_question((centred * sequences.unsupported).sum(axis=1))
    bottom = sequences.by_question((centred**2).sum(axis=1))
    if bottom.sum() <= 0 or len(top) < 2:
        return PositionTrend(None, None, None, "no response has two scored claims, or there is one question only")
    slope = float(top.sum() / bottom.sum())
    limits = _slope_limits(top, bottom, slope, resampler)
    if limits is None:
        return PositionTrend(slope, None, None, "the questions do not differ: there is no variance to use")
    few = int(np.count_nonzero(top))
    reason = f"only {few} questions have claims of both kinds (10 are needed)" if few < 10 else ""
    return PositionTrend(slope, limits.lower, limits.upper, reason)


def _slope_limits(top: Floats, bottom: Floats, slope: float, resampler: Resampler) -> Interval | None:
    replicates = ratio_replicates(resampler.weights(len(top)), top, bottom)
    return bca_limits(slope, replicates, ratio_jackknife(top, bottom), resampler.settings.level)


def _curve(sequences: Sequences, events: Floats, at_risk: Floats, resampler: Resampler) -> PositionCurve:
    responses = sequences.by_question(np.ones((len(events), 1)))
    h, a = sequences.by_question(events) / responses, sequences.by_question(at_risk) / responses
    band = rate_band(h, a, at_risk.sum(axis=0), resampler)
    counts = tuple(int(v) for v in at_risk.sum(axis=0))
    return PositionCurve(band, counts, tuple(int(v) for v in np.count_nonzero(a, axis=0)))
