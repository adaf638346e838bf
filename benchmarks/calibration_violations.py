"""Share of wrong certificates: thresholds chosen on simulated labels, compared with the known truth.

    python -m benchmarks.calibration_violations                        # 10,000 calibrations per cell
    python -m benchmarks.calibration_violations --replicates 1000      # a quick run
    python -m benchmarks.calibration_violations --page FILE            # also as Markdown

A violation is a certified threshold with a true rate of at least alpha. The method of ``plumbline calibrate`` is
compared with three common ones: test every threshold separately and take the loosest that passes; pool the samples of a
question as if they were independent; compare the observed rate with alpha. One Monte Carlo standard error of a share of
0.05 over 10,000 calibrations is 0.0022. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.calibration_procedures import Procedure, fixed_sequence, grids, pooled, seen_rate, unsequenced
from benchmarks.calibration_worlds import World, sampled_worlds, worlds

SPARE = 400
_CELLS = 6_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """Result of one method in one setting. wrong: share of calibrations with a certificate that is a violation.
    certified: share with a certificate. answered: mean answer rate of the certified ones.
    """

    world: str
    alpha: float
    labels: int
    method: str
    replicates: int
    wrong: float
    certified: float
    answered: float | None

    @property
    def too_many(self) -> bool:
        """Whether the share of violations exceeds delta = 0.05 by more than three Monte Carlo standard errors."""
        return self.wrong > 0.05 + 3 * float(np.sqrt(0.05 * 0.95 / self.replicates))


def cell(
    world: World, alpha: float, labels: int, method: str, procedure: Procedure, replicates: int, seed: int
) -> Cell:
    """Calibrate ``replicates`` times on new labels, at delta 0.05."""
    delta = 0.05
    rng = np.random.default_rng([seed, labels, round(1000 * alpha)])
    step = max(1, _CELLS // (labels * 20))
    chosen = []
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        score, wrong = world.draw(rng, (size, labels))
        grid = grids(rng.random((size, SPARE)), labels, alpha, delta)
        chosen.append(procedure(score, wrong, grid, world.samples, alpha, delta))
    threshold = np.concatenate(chosen)
    has = ~np.isnan(threshold)
    bad = has & (world.true_rate(np.where(has, threshold, 0.0)) >= alpha - 1e-9)
    answered = float((1 - threshold[has]).mean()) if has.any() else None
    return Cell(world.name, alpha, labels, method, replicates, float(bad.mean()), float(has.mean()), answered)


def cells(replicates: int, alphas: tuple[float, ...] = (0.05, 0.1, 0.2), seed: int = 1) -> list[Cell]:
    """Return all results."""
    single: dict[str, Procedure] = {
        "fixed sequence, exact": fixed_sequence,
        "each threshold by itself": unsequenced,
        "rate seen": seen_rate,
    }
    several: dict[str, Procedure] = {"fixed sequence, betting": fixed_sequence, "samples pooled": pooled}
    results = []
    for alpha in alphas:
        for labels in (100, 200, 500):
            for world in worlds(alpha):
                results += [cell(world, alpha, labels, name, how, replicates, seed) for name, how in single.items()]
    for world in sampled_worlds(0.1):
        for labels in (100, 200):
            results += [cell(world, 0.1, labels, name, how, replicates, seed) for name, how in several.items()]
    return results


def markdown(found: list[Cell]) -> str:
    """Return one table per method, after a sentence on its worst cell."""
    lines = []
    for method in dict.fromkeys(c.method for c in found):
        mine = [c for c in found if c.method == method]
        worst = max(mine, key=lambda c: c.wrong)
        lines += [
            f"\n### {method}\n",
            f"{len(mine)} cells, {sum(c.too_many for c in mine)} with more wrong certificates than delta (by three "
            f"standard errors). Most: {worst.wrong:.4f} ({worst.world}, alpha {worst.alpha:g}, {worst.labels}).\n",
            "| world | alpha | labels | wrong | certified | answer rate |",
            "|---|---|---|---|---|---|",
        ]
        for c in mine:
            answered = "-" if c.answered is None else f"{c.answered:.2f}"
            lines.append(f"| {c.world} | {c.alpha:g} | {c.labels} | {c.wrong:.4f} | {c.certified:.3f} | {answered} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate, print, and write the page if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    results = cells(arguments.replicates)
    print(markdown(results))
    if arguments.page:
        arguments.page.write_text(markdown(results), "utf-8")
    worst = {method: max(c.wrong for c in results if c.method == method) for method in {c.method for c in results}}
    print(json.dumps({"worst": worst, "cells": [asdict(c) for c in results]}))


if __name__ == "__main__":
    main()
