"""Coverage cells that need outcomes but no labels: rates, differences, answered-only rates, clustered t, BCa, bands."""

from __future__ import annotations

import numpy as np

from benchmarks.coverage_cells import LEVEL, Cell, Tally, blocks
from benchmarks.coverage_draws import PairModel, answer_pair_states, answer_states, draw_states, events
from evaluation.statistics.bands import difference_band, rate_band
from evaluation.statistics.bootstrap import bca_limits, question_weights
from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import clustered_t_limits, effective_limits
from evaluation.statistics.measure import Resampler, Settings
from evaluation.statistics.paired import fixed_minus_broken_limits, ratio_difference_limits

TEMPERATURES = 6
"""Number of decoding settings in a band."""
_AT_ONCE = 20
"""Number of data sets that share one draw of bootstrap weights."""
_DRAWS = 1000

PAIRS = (
    PairModel(0.5, 1.0, 1.0, 0.02),
    PairModel(0.5, 1.0, 1.0, 0.05, 0.01),
    PairModel(0.5, 1.0, 1.0, 0.1),
    PairModel(0.05, 1.0, 1.0, 0.02, 0.02),
    PairModel(0.0, 1.0, 1.0, 0.02),
    PairModel(0.3, 0.5, 1.0),
    PairModel(0.3, 0.5, 0.5, 0.3, 0.05),
    PairModel(0.05, 0.3, 0.9, 0.03),
    PairModel(0.95, 0.6, 0.5, 0.0, 0.03),
    PairModel(0.5, 0.05, 0.0),
)


def rates(rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float) -> list[Cell]:
    """Return the coverage of rates over all responses: the default interval, and clustered t where it is reliable."""
    setting = f"rate {rate}, correlation {rho}"
    ours, t = Tally("rate", setting, n, m, rate), Tally("rate, clustered t (reliable)", setting, n, m, rate)
    chances = events(m, rate, rho)
    for size in blocks(replicates, n):
        f = draw_states(rng, (size, n), chances) / m
        ones = np.ones_like(f)
        limits = effective_limits(f, ones, float(n * m), LEVEL)
        ours.add(limits.lower, limits.upper)
        limits = clustered_t_limits(f, ones, LEVEL)
        t.add(limits.lower, limits.upper, _reliable(f))
    return [c for c in (ours.cell(), t.cell()) if c]


def answered(
    rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float, answers: float, spread: float
) -> list[Cell]:
    """Return the coverage of rates among answers. The rates of answering and of hallucinating are independent."""
    ours = Tally("answered-only", f"rate {rate}, correlation {rho}, answers {answers} ({spread})", n, m, rate)
    states = answer_states(m, answers, spread, rate, rho)
    for size in blocks(replicates, n):
        drawn = draw_states(rng, (size, n), states.probabilities)
        h, count = states.events[drawn], states.answers[drawn]
        some = count.sum(-1) > 0
        h, count = h[some], count[some]
        limits = effective_limits(h / m, count / m, count.sum(-1), LEVEL)
        ours.add(limits.lower, limits.upper)
    return [c for c in (ours.cell(),) if c]


def bca(rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float) -> list[Cell]:
    """Return the coverage of BCa for a rate where it is reliable. Bootstrap weights are drawn anew every 20 data
    sets.
    """
    tally = Tally("rate, BCa (reliable)", f"rate {rate}, correlation {rho}", n, m, rate)
    chances = events(m, rate, rho)
    for block in range(replicates // _AT_ONCE):
        f = draw_states(rng, (_AT_ONCE, n), chances) / m
        boot = f @ question_weights(n, _DRAWS, 7919 + block).T.astype(np.float64) / n
        for row, replicate, flagged in zip(f, boot, _reliable(f), strict=True):
            if not flagged:
                continue
            limits = bca_limits(float(row.mean()), replicate, (row.sum() - row) / (n - 1), LEVEL)
            if limits is not None:
                tally.add(np.array([limits.lower]), np.array([limits.upper]))
    return [c for c in (tally.cell(),) if c]


def differences(rng: np.random.Generator, replicates: int, n: int, m: int, model: PairModel) -> list[Cell]:
    """Return the coverage of differences: MOVER, and clustered t where it is reliable."""
    truth = model.fixed - model.broken
    ours = Tally("difference", str(model), n, m, truth)
    t = Tally("difference, clustered t (reliable)", str(model), n, m, truth)
    chances = model.outcomes(m, m).ravel()
    for size in blocks(replicates, 2 * n):
        drawn = draw_states(rng, (size, n), chances)
        f, g = drawn // (m + 1) / m, drawn % (m + 1) / m
        ones = np.ones_like(f)
        limits = fixed_minus_broken_limits(f * (1 - g), g * (1 - f), ones, float(n * m), LEVEL)
        ours.add(limits.lower, limits.upper)
        limits_t = clustered_t_limits(f - g, ones, LEVEL)
        t.add(limits_t.lower, limits_t.upper, (np.abs(f - g) > 1e-12).sum(-1) >= 10)
    return [c for c in (ours.cell(), t.cell()) if c]


def answered_differences(
    rng: np.random.Generator, replicates: int, n: int, m: int, model: PairModel, answers: float
) -> list[Cell]:
    """Return the coverage of differences between answered-only rates. Abstentions are independent."""
    tally = Tally("answered-only difference", f"{model}, answers {answers}", n, m, model.fixed - model.broken)
    states = answer_pair_states(m, model, answers, 0.5)
    for size in blocks(replicates, 2 * n):
        drawn = draw_states(rng, (size, n), states.probabilities)
        (a, b), (h, g) = ([part[drawn] for part in arms] for arms in (states.answers, states.events))
        some = (a.sum(-1) > 0) & (b.sum(-1) > 0)
        a, b, h, g = a[some], b[some], h[some], g[some]
        limits = ratio_difference_limits(h / m, a / m, a.sum(-1), g / m, b / m, b.sum(-1), LEVEL)
        tally.add(limits.lower, limits.upper)
    return [c for c in (tally.cell(),) if c]


def bands(rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float) -> list[Cell]:
    """Return the simultaneous coverage of bands over six decoding settings: of rates, and of differences from a
    baseline.

    A question has one rate in all settings, which correlates them. A data set is outside if the truth of any setting
    is; one with the truth on both sides counts as below.
    """
    setting = f"{TEMPERATURES} settings, rate {rate}, correlation {rho}"
    one = Tally("band of rates (all inside)", setting, n, m, 0.0)
    two = Tally("band of differences (all inside)", setting, n, m, 0.0)
    size = None if rho in (0.0, 1.0) else 1.0 / rho - 1.0
    for block in range(replicates // _AT_ONCE):
        # A new seed per block: with one seed, all data sets would share the noise of the bootstrap quantile.
        resampler = Resampler(Settings(level=LEVEL, bootstrap=_DRAWS, seed=block))
        for _ in range(_AT_ONCE):
            own = np.full(n, rate) if size is None else rng.beta(rate * size, (1.0 - rate) * size, n)
            h = rng.binomial(m, np.broadcast_to(own[:, None], (n, TEMPERATURES + 1))) / m
            first, other = h[:, :TEMPERATURES], h[:, TEMPERATURES:]
            rates_band = rate_band(first, np.ones_like(first), np.full(TEMPERATURES, float(n * m)), resampler)
            _inside(one, rates_band.lower, rates_band.upper, rate)
            band = difference_band(np.broadcast_to(other, first.shape), first, float(n * m), resampler)
            _inside(two, band.lower, band.upper, 0.0)
    return [c for c in (one.cell(), two.cell()) if c]


def _inside(tally: Tally, lower: tuple[float | None, ...], upper: tuple[float | None, ...], truth: float) -> None:
    """Count a band: whether the truth is outside of it anywhere, and its mean width. An undefined limit contains the
    truth.
    """
    low = np.array([truth if v is None else v for v in lower])
    high = np.array([truth if v is None else v for v in upper])
    below = bool(np.any(truth < low - 1e-12))
    tally.note(below, not below and bool(np.any(truth > high + 1e-12)), float((high - low).mean()))


def _reliable(f: Floats) -> np.ndarray:
    return ((f > 0).sum(-1) >= 10) & ((f < 1).sum(-1) >= 10)
