"""Labels that the active draw saves: coverage and width of its interval compared with those of a uniform draw.

    python -m benchmarks.calibration_labels                            # simulated, 10,000 draws per cell
    python -m benchmarks.calibration_labels --scored FILE              # the shipped labelled answers instead

FILE is the output of ``plumbline score rows.jsonl --answers FILE`` on ``python -m benchmarks.real_answers --write
rows.jsonl``. With FILE, the 206 labels are the ground truth, and subsets are drawn repeatedly. "Labels saved" is 1
minus the squared ratio of widths, since the width of an interval falls with the square root of the number of labels.
"uniform" uses labels alone. "uniform + verifier" adds the verifier's predictions, with equal drawing probabilities.
"active" also draws more often where the verifier is unsure. Intervals are asymptotic at level 0.95. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_answers import answers
from evaluation.guarantee.active import active_probabilities
from evaluation.guarantee.predicted import half_width, regressed_values

Floats = NDArray[np.float64]
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Cell:
    """Result of one draw in one setting. rmse: root mean squared error of the estimate. saved: share of labels saved
    compared with the uniform draw without verifier.
    """

    setting: str
    questions: int
    labels: int
    method: str
    coverage: float
    width: float
    rmse: float
    saved: float


VERIFIERS: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "calibrated": lambda rng, q: q,
    "overconfident": lambda rng, q: np.clip(0.5 + 2.0 * (q - 0.5), 0.02, 0.98),
    "biased": lambda rng, q: np.clip(q * 0.5, 0.02, 0.98),
    "useless": lambda rng, q: rng.random(q.shape),
}


def simulated(setting: str, a: float, b: float, questions: int, labels: int, replicates: int) -> list[Cell]:
    """Simulate the three draws. Question risks are Beta(a, b), so the true rate is the mean risk a / (a + b)."""
    rng = np.random.default_rng([7, questions, labels, round(100 * a), round(100 * b)])
    risk = rng.beta(a, b, (replicates, questions))
    truth = (rng.random(risk.shape) < risk) * 1.0
    predicted = VERIFIERS[setting](rng, risk)
    where = f"{setting} verifier, rate {a / (a + b):.2f}"
    return compare(where, truth, predicted, labels, a / (a + b), rng)


def compare(
    setting: str, truth: Floats, predicted: Floats, labels: int, target: float, rng: np.random.Generator
) -> list[Cell]:
    """Compare the three draws on labels and predictions, both (R, N) for R data sets of N questions."""
    questions = truth.shape[1]
    uniform = np.full(truth.shape, labels / questions)
    active = np.stack([active_probabilities(row, labels) for row in predicted])
    cells: list[Cell] = []
    for method, probability, used_prediction in (
        ("uniform", uniform, np.zeros_like(predicted)),
        ("uniform + verifier", uniform, predicted),
        ("active", active, predicted),
    ):
        drawn = (rng.random(truth.shape) < probability) * 1.0
        values = regressed_values(truth, used_prediction, drawn, probability)
        mean, half = values.mean(axis=1), half_width(values, drawn.sum(axis=1), LEVEL)
        width = float(2 * half.mean())
        base = cells[0].width if cells else width
        cells.append(
            Cell(
                setting,
                questions,
                labels,
                method,
                float((np.abs(mean - target) <= half).mean()),
                width,
                float(np.sqrt(((mean - target) ** 2).mean())),
                1.0 - (width / base) ** 2,
            )
        )
    return cells


def labelled_run(path: Path, replicates: int) -> list[Cell]:
    """Compare the draws of 60 and 100 of the 206 shipped labels. path: verdicts of the judge."""
    scores: dict[str, float] = {}
    for line in path.read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        scores[row["id"]] = 0.5 if row["support"] is None else row["support"]
    rows = answers()
    truth = np.array([row["label"] == "hallucinated" for row in rows], dtype=np.float64)
    predicted = np.array([1.0 - scores[row["id"]] for row in rows])
    rng = np.random.default_rng(11)
    results = []
    for labels in (60, 100):
        shape = (replicates, len(rows))
        name = "206 answers of SmolLM2, default judge"
        results += compare(
            name, np.broadcast_to(truth, shape), np.broadcast_to(predicted, shape), labels, float(truth.mean()), rng
        )
    return results


def markdown(cells: list[Cell]) -> str:
    """Return the results as one table."""
    lines = [
        "| setting | questions | labels | draw | coverage | width | labels saved |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {c.setting} | {c.questions} | {c.labels} | {c.method} | {c.coverage:.4f} | {c.width:.3f} | {c.saved:.0%} |"
        for c in cells
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--scored", type=Path)
    arguments = parser.parse_args()
    cells: list[Cell] = []
    for setting in () if arguments.scored else VERIFIERS:
        for a, b in ((0.5, 0.5), (0.3, 1.2), (0.2, 1.8)):
            for labels in (100, 200):
                cells += simulated(setting, a, b, 500, labels, arguments.replicates)
    if arguments.scored:
        cells += labelled_run(arguments.scored, arguments.replicates)
    print(markdown(cells))
    print(json.dumps([asdict(c) for c in cells]))


if __name__ == "__main__":
    main()
