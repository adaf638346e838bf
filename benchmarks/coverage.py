"""How often the intervals of evaluation/ hold what they should: python -m benchmarks.coverage [--replicates R].

Rates, differences, answered-only rates and their differences, clustered t, BCa, and all of them corrected by human
labels (benchmarks/coverage_corrected.py), with both tails and widths.

Limited by the generation of binomial counts and by the incomplete beta function. Prints one Markdown table for each
kind of interval and ends in one JSON line with the worst cell of each. A cell falls short when its coverage is below
the level by more than 3 Monte Carlo standard errors: with nothing wrong and coverage exactly at the level, about 1 cell
in 740 does so by chance.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage_cells import LEVEL, Cell, Tally, blocks, question_rates
from benchmarks.coverage_corrected import corrected_cells
from evaluation.statistics.bootstrap import bca_limits, question_weights
from evaluation.statistics.counts import Floats
from evaluation.statistics.intervals import clustered_t_limits, effective_limits
from evaluation.statistics.paired import fixed_minus_broken_limits, ratio_difference_limits


def rates(rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float) -> list[Cell]:
    """Rates over all responses: the default, and clustered t where it is flagged reliable."""
    setting = f"rate {rate}, correlation {rho}"
    ours, t = Tally("rate", setting, n, m, rate), Tally("rate, clustered t (reliable)", setting, n, m, rate)
    for size in blocks(replicates, n):
        f = rng.binomial(m, question_rates(rng, (size, n), rate, rho)) / m
        ones = np.ones_like(f)
        limits = effective_limits(f, ones, float(n * m), LEVEL)
        ours.add(limits.lower, limits.upper)
        limits = clustered_t_limits(f, ones, LEVEL)
        t.add(limits.lower, limits.upper, ((f > 0).sum(-1) >= 10) & ((f < 1).sum(-1) >= 10))
    return [c for c in (ours.cell(), t.cell()) if c]


def answered(
    rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float, answers: float, spread: float
) -> list[Cell]:
    """Hallucinations among answers: each question has its own rate of answering and of hallucinating, independent."""
    ours = Tally("answered-only", f"rate {rate}, correlation {rho}, answers {answers} ({spread})", n, m, rate)
    for size in blocks(replicates, n):
        count = rng.binomial(m, question_rates(rng, (size, n), answers, spread))
        h = rng.binomial(count, question_rates(rng, (size, n), rate, rho))
        some = count.sum(-1) > 0
        h, count = h[some], count[some]
        limits = effective_limits(h / m, count / m, count.sum(-1).astype(float), LEVEL)
        ours.add(limits.lower, limits.upper)
    return [c for c in (ours.cell(),) if c]


def bca(rng: np.random.Generator, replicates: int, n: int, m: int, rate: float, rho: float) -> list[Cell]:
    """BCa of a rate, where it is flagged reliable; fresh bootstrap weights every 20 data sets."""
    tally = Tally("rate, BCa (reliable)", f"rate {rate}, correlation {rho}", n, m, rate)
    for block in range(replicates // 20):
        f = rng.binomial(m, question_rates(rng, (20, n), rate, rho)) / m
        boot = f @ question_weights(n, 1000, 7919 + block).T / n
        for row, replicate in zip(f, boot, strict=True):
            if (row > 0).sum() < 10 or (row < 1).sum() < 10:
                continue
            limits = bca_limits(float(row.mean()), replicate, (row.sum() - row) / (n - 1), LEVEL)
            if limits is not None:
                tally.add(np.array([limits.lower]), np.array([limits.upper]))
    return [c for c in (tally.cell(),) if c]


@dataclass(frozen=True, slots=True)
class PairModel:
    """Both arms share a question's own rate with probability `shared`; else each has its own.

    Then, with probability `fixed` (`broken`), only the first (the second) arm hallucinates on that question, always.
    """

    rate: float
    correlation: float
    shared: float
    fixed: float = 0.0
    broken: float = 0.0

    def __str__(self) -> str:
        latent = f"rate {self.rate}, correlation {self.correlation}, shared {self.shared}"
        return f"{latent}, fixed {self.fixed}, broken {self.broken}"

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Floats]:
        one = question_rates(rng, shape, self.rate, self.correlation)
        other = question_rates(rng, shape, self.rate, self.correlation)
        two = np.where(rng.random(shape) < self.shared, one, other)
        coin = rng.random(shape)
        fixed, broken = coin < self.fixed, (coin >= self.fixed) & (coin < self.fixed + self.broken)
        return np.where(fixed, 1.0, np.where(broken, 0.0, one)), np.where(fixed, 0.0, np.where(broken, 1.0, two))


def differences(rng: np.random.Generator, replicates: int, n: int, m: int, model: PairModel) -> list[Cell]:
    truth = model.fixed - model.broken
    ours = Tally("difference", str(model), n, m, truth)
    t = Tally("difference, clustered t (reliable)", str(model), n, m, truth)
    for size in blocks(replicates, 2 * n):
        p, q = model.draw(rng, (size, n))
        f, g = rng.binomial(m, p) / m, rng.binomial(m, q) / m
        ones = np.ones_like(f)
        limits = fixed_minus_broken_limits(f * (1 - g), g * (1 - f), ones, float(n * m), LEVEL)
        ours.add(limits.lower, limits.upper)
        limits_t = clustered_t_limits(f - g, ones, LEVEL)
        t.add(limits_t.lower, limits_t.upper, (np.abs(f - g) > 1e-12).sum(-1) >= 10)
    return [c for c in (ours.cell(), t.cell()) if c]


def answered_differences(
    rng: np.random.Generator, replicates: int, n: int, m: int, model: PairModel, answers: float
) -> list[Cell]:
    tally = Tally("answered-only difference", f"{model}, answers {answers}", n, m, model.fixed - model.broken)
    for size in blocks(replicates, 2 * n):
        p, q = model.draw(rng, (size, n))
        a = rng.binomial(m, question_rates(rng, (size, n), answers, 0.5))
        b = rng.binomial(m, question_rates(rng, (size, n), answers, 0.5))
        h, g = rng.binomial(a, p), rng.binomial(b, q)
        some = (a.sum(-1) > 0) & (b.sum(-1) > 0)
        a, b, h, g = a[some], b[some], h[some], g[some]
        limits = ratio_difference_limits(h / m, a / m, a.sum(-1) * 1.0, g / m, b / m, b.sum(-1) * 1.0, LEVEL)
        tally.add(limits.lower, limits.upper)
    return [c for c in (tally.cell(),) if c]


MODELS = (
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


def run(replicates: int, bca_replicates: int, corrected_replicates: int, seed: int) -> list[Cell]:
    """Every cell; the same seed gives the same table."""
    rng = np.random.default_rng(seed)
    cells: list[Cell] = []
    for n in (20, 50, 200, 1000):
        for m in (1, 3, 8):
            for rho in (0.0, 0.1, 0.3, 0.6, 0.9, 1.0) if m > 1 else (1.0,):
                for rate in (0.002, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99):
                    cells += rates(rng, replicates, n, m, rate, rho)
            for rho in (0.3, 1.0):
                for rate in (0.01, 0.1, 0.5, 0.9):
                    for share, spread in ((0.3, 0.3), (0.7, 0.9), (0.9, 0.1)):
                        cells += answered(rng, replicates, n, m, rate, rho, share, spread)
            for model in MODELS:
                cells += differences(rng, replicates, n, m, model)
                cells += answered_differences(rng, replicates, n, m, model, 0.7)
    for n in (50, 200):
        for m in (1, 8):
            for rate in (0.2, 0.5, 0.9):
                cells += bca(rng, bca_replicates, n, m, rate, 0.5)
    return cells + corrected_cells(corrected_replicates, seed)


def _print_every(cells: list[Cell]) -> None:
    print("\n| questions | samples | setting | data sets | coverage | truth below | above | mean width | short |")
    print("|---|---|---|---|---|---|---|---|---|")
    for c in sorted(cells, key=lambda c: (c.questions, c.samples, c.setting)):
        print(
            f"| {c.questions} | {c.samples} | {c.setting} | {c.replicates} | {c.coverage:.4f} | {c.truth_below:.4f} "
            f"| {c.truth_above:.4f} | {c.width:.4f} | {'short' if c.short else ''} |"
        )


def report(cells: list[Cell], seconds: float, every: bool = False) -> None:
    worst: dict[str, float] = {}
    for interval in dict.fromkeys(c.interval for c in cells):
        mine = sorted((c for c in cells if c.interval == interval), key=lambda c: c.coverage)
        short = sum(c.short for c in mine)
        worst[interval] = mine[0].coverage
        print(f"\n### {interval}: {len(mine)} cells, {short} fall short\n")
        print("| questions | cells | lowest coverage | its setting | truth below | above | median width | short |")
        print("|---|---|---|---|---|---|---|---|")
        for n in sorted({c.questions for c in mine}):
            row = [c for c in mine if c.questions == n]
            low = row[0]
            width = float(np.median([c.width for c in row]))
            print(
                f"| {n} | {len(row)} | {low.coverage:.4f} | {low.samples} samples, {low.setting} "
                f"| {low.truth_below:.4f} | {low.truth_above:.4f} | {width:.4f} | {sum(c.short for c in row)} |"
            )
        if every:
            _print_every(mine)
    replicates = sorted({c.replicates for c in cells})
    print(
        json.dumps({"seconds": round(seconds), "replicates": [replicates[0], replicates[-1]], "lowest_coverage": worst})
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--replicates", type=int, default=2000, help="data sets per cell (10000 for the published table)"
    )
    parser.add_argument("--bca-replicates", type=int, default=1000)
    parser.add_argument(
        "--corrected-replicates", type=int, default=500, help="data sets per cell of corrected rates (about 5 ms each)"
    )
    parser.add_argument("--corrected-only", action="store_true", help="only the corrected rates and differences")
    parser.add_argument("--every", action="store_true", help="every cell, not only the worst of each kind")
    parser.add_argument("--seed", type=int, default=20)
    args = parser.parse_args()
    start = time.perf_counter()
    if args.corrected_only:
        cells = corrected_cells(args.corrected_replicates, args.seed)
    else:
        cells = run(args.replicates, args.bca_replicates, args.corrected_replicates, args.seed)
    report(cells, time.perf_counter() - start, args.every)


if __name__ == "__main__":
    main()
