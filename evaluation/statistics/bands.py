"""Compute simultaneous intervals for many rates, such as those of a decoding grid or of positions in a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.statistics.bootstrap import Weights, blocks, weighted_sums
from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import effective_limits, ratio
from evaluation.statistics.measure import Resampler
from evaluation.statistics.paired import fixed_minus_broken_limits


@dataclass(frozen=True, slots=True)
class Band:
    """Rates or differences of G cells with simultaneous limits. Each sequence has length G.

    rates, lower, upper: rate and limits of each cell; None where undefined.
    level: probability that the limits of all G cells hold together.
    cell_level: level of each single interval that gives this joint level.
    reasons: why a cell is undefined; "" for a defined one.
    """

    rates: tuple[float | None, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    level: float
    cell_level: float
    reasons: tuple[str, ...]


def rate_band(h: Floats, a: Floats, responses: Floats, resampler: Resampler) -> Band:
    """Return simultaneous intervals for the rates sum_q h_qg / sum_q a_qg of G cells on the same N questions.

    h, a: (N, G); a is 0 where a cell lacks a question.
    responses: (G,), upper bound on the number of independent responses of each cell.

    Each cell uses the default interval at a level raised until all hold together (see ``joint_level``). As with the
    default interval, no cell has zero width.
    """
    live = a.sum(axis=0) > 0
    level = joint_level(h[:, live], a[:, live], resampler) if live.any() else resampler.settings.level
    limits = effective_limits(h[:, live].T, a[:, live].T, responses[live], level)
    values = ratio(h[:, live].T, a[:, live].T)
    return _band(live, values, limits.lower, limits.upper, resampler.settings.level, level)


def difference_band(
    h1: Floats, h2: Floats, independent: float, resampler: Resampler, scored: tuple[Floats, Floats] | None = None
) -> Band:
    """Return simultaneous intervals for the differences of two arms' rates in G cells, by MOVER on fixed and broken.

    h1, h2: (N, G), shares of each arm's responses with the event.
    independent: upper bound on the number of independent responses of a cell (``mean_responses`` of the arm with fewer
        samples).
    scored: shares of each arm's responses that are scored, (N, G) each; all by default. A cross-pair counts if both of
        its responses are scored.
    """
    r1, r2 = scored or (np.ones_like(h1), np.ones_like(h2))
    weight = r1 * r2
    live = weight.sum(axis=0) > 0
    h1, h2, r1, r2, weight = (side[:, live] for side in (h1, h2, r1, r2, weight))
    change = h1 * r2 - h2 * r1
    level = joint_level(change, weight, resampler) if live.any() else resampler.settings.level
    fixed, broken = (np.clip(h * (r - g), 0.0, weight) for h, r, g in ((h1, r2, h2), (h2, r1, h1)))
    limits = fixed_minus_broken_limits(fixed.T, broken.T, weight.T, independent, level)
    return _band(live, ratio(change.T, weight.T), limits.lower, limits.upper, resampler.settings.level, level)


def joint_level(h: Floats, a: Floats, resampler: Resampler) -> float:
    """Return the level of each of G intervals at which all hold together with the level of the settings.

    h, a: (N, G), as in ``rate_band``.

    The result lies between that level and Bonferroni's. The method is a bootstrap max-t by question (Westfall and Young
    1993; Romano and Wolf 2005): c is the level's quantile of max_g |R*_g - R_g| / se*_g over resamples, where se* is
    the clustered standard error in the resample. The cells are correlated because they use the same questions. This
    makes the limits narrower than Bonferroni's. Student's t with N - 1 degrees of freedom turns the quantile into a
    level for the default interval. Unlike R -+ c se, that interval keeps its level near 0 and 1.
    """
    n, cells = h.shape
    level = float(resampler.settings.level)
    if cells < 2 or n < 3:
        return level if cells < 2 else 1.0 - (1.0 - level) / cells
    largest = max_t(resampler.weights(n), h, a)
    finite = largest[np.isfinite(largest)]
    bonferroni = float(1.0 - (1.0 - level) / cells)
    if finite.size < resampler.settings.bootstrap / 2:
        return bonferroni
    critical = float(np.quantile(finite, level))
    raised = 1.0 - 2.0 * float(special.stdtr(n - 1, -critical))
    return min(max(raised, level), bonferroni)


def max_t(weights: Weights, h: Floats, a: Floats) -> Floats:
    """Return max_g |R*_g - R_g| / se*_g in resamples: (B, N), (N, G), (N, G) -> (B,); -inf where no cell varies."""
    n, cells = h.shape
    rates = ratio(h.T, a.T)
    products = np.concatenate([h, a, h * h, h * a, a * a], axis=1)  # (N, 5 G)
    result = np.empty(weights.shape[0])
    for rows in blocks(weights.shape[0], max(n, 5 * cells)):
        sums = weighted_sums(weights[rows], products).reshape(-1, 5, cells)
        top, bottom, hh, ha, aa = np.moveaxis(sums, 1, 0)
        safe = np.where(bottom > 0, bottom, 1.0)
        r = top / safe
        squares = np.maximum(hh - 2.0 * r * ha + r * r * aa, 0.0) / safe**2 * (n / (n - 1.0))
        usable = (bottom > 0) & (squares > 1e-15)
        t = np.divide(np.abs(r - rates), np.sqrt(squares), out=np.full_like(r, -np.inf), where=usable)
        result[rows] = t.max(axis=1)
    return result


def _band(live: NDArray[np.bool_], values: Floats, lower: Floats, upper: Floats, level: float, cell: float) -> Band:
    positions = iter(range(int(live.sum())))
    index = [next(positions) if on else None for on in live]

    def spread(array: Floats) -> tuple[float | None, ...]:
        return tuple(None if i is None else float(array[i]) for i in index)

    reasons = tuple("" if on else "no response falls in the denominator" for on in live)
    return Band(spread(values), spread(lower), spread(upper), level, cell, reasons)
