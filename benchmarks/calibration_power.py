"""Share of calibrations that certify, by number of labels and test: exact, and prediction-powered with both draws.

    python -m benchmarks.calibration_power                    # 2,000 calibrations per cell

There are 600 questions with scores uniform on [0, 1]. The threshold 0.5 is fixed in advance; alpha is 0.2 and delta
0.05. "certified" is the share of calibrations in which the threshold passes. All certificates are correct if the rate
is below alpha. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.calibration_worlds import World, constant, falling
from evaluation.guarantee.active import active_probabilities
from evaluation.guarantee.exact import exceedance_p_value
from evaluation.guarantee.predicted import active_p_value, uniform_p_value

ALPHA, DELTA, THRESHOLD, QUESTIONS = 0.2, 0.05, 0.5, 600


@dataclass(frozen=True, slots=True)
class Cell:
    """Result of one test in one setting. rate: true hallucination rate above the threshold."""

    world: str
    rate: float
    labels: int
    test: str
    certified: float


def cells(replicates: int, seed: int = 2) -> list[Cell]:
    """Return all results.

    The verifier's risk is 1 - score. In the first two worlds it is at least 2 and 2.5 times the true risk.
    """
    results = []
    for world in (
        World("falls to 0", falling(0.0, 0.4)),
        World("falls to 0 from 1", falling(0.0, 0.9)),
        World("score says nothing", constant(0.1)),
        World("r = alpha", constant(ALPHA)),
    ):
        for labels in (100, 200):
            rng = np.random.default_rng([seed, labels])
            score, wrong = world.draw(rng, (replicates, QUESTIONS))
            passes = (score >= THRESHOLD) * 1.0
            gain, guess = (ALPHA - wrong) * passes, (ALPHA - (1 - score)) * passes
            exact = exceedance_p_value((wrong * passes)[:, :labels].sum(1), passes[:, :labels].sum(1), ALPHA)
            uniform = uniform_p_value(gain[:, :labels], guess[:, :labels], guess[:, labels:], ALPHA)
            # One draw design for all data sets of a cell: probabilities depend on scores alone.
            active = []
            for row in range(replicates):
                pi = active_probabilities(1 - score[row], labels)
                drawn = (rng.random(QUESTIONS) < pi) * 1.0
                active.append(float(active_p_value(gain[row], guess[row], drawn, pi, ALPHA)))
            rate = float(world.true_rate(THRESHOLD))
            for name, p in (
                ("exact, uniform draw", exact),
                ("prediction-powered, uniform draw", uniform),
                ("prediction-powered, active draw", np.array(active)),
            ):
                results.append(Cell(world.name, rate, labels, name, float((p <= DELTA).mean())))
    return results


def markdown(found: list[Cell]) -> str:
    """Return the results as one table."""
    lines = ["| world | true rate | labels | test | certified |", "|---" * 5 + "|"]
    lines += [f"| {c.world} | {c.rate:.3f} | {c.labels} | {c.test} | {c.certified:.4f} |" for c in found]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=2000)
    results = cells(parser.parse_args().replicates)
    print(markdown(results))
    print(json.dumps([asdict(c) for c in results]))


if __name__ == "__main__":
    main()
