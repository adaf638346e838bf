"""Time of the statistics of a run: python -m benchmarks.statistics_speed [--questions 1000] [--bootstrap 10000].

Time is bound by drawing the bootstrap weights, and by one pass over them (questions x replicates, two bytes each) for
every rate and difference. There is no peer with these estimates. The target is a time: 1,000 questions x 3 arms x 8
samples with 10,000 bootstrap draws in under 5 s. The last line is JSON; peak memory is that of the complete process.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np

from evaluation.statistics.counts import ArmCounts, OutcomeTable, QuestionCounts
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise

ARMS = ("closed_book", "rag", "oracle")


def outcomes(questions: int, samples: int, seed: int) -> OutcomeTable:
    """Return a table of outcomes. Questions differ in how often each outcome occurs, in every arm."""
    rng = np.random.default_rng(seed)
    arms = []
    for arm in ARMS:
        shares = rng.dirichlet([1.0, 1.5, 0.5, 0.1], questions)
        counts = rng.multinomial(samples, shares)
        rows = tuple(
            QuestionCounts(f"q{i:06d}", (int(a), int(b), int(c), int(d))) for i, (a, b, c, d) in enumerate(counts)
        )
        arms.append(ArmCounts(arm, rows))
    return OutcomeTable(tuple(arms))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--bootstrap", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    table = outcomes(args.questions, args.samples, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = [], []
    for _ in range(args.repeats):
        start, used = time.perf_counter(), time.process_time()
        summarise(table, settings=Settings(bootstrap=args.bootstrap))
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "benchmark": "statistics_speed",
                "questions": args.questions,
                "arms": len(ARMS),
                "samples": args.samples,
                "bootstrap": args.bootstrap,
                "seconds_best": round(min(wall), 3),
                "seconds_median": round(float(np.median(wall)), 3),
                "processor_seconds_best": round(min(processor), 3),
                "peak_mib": round(peak / 1024),
                "peak_mib_before": round(before / 1024),
                "promised_seconds": 5.0,
            }
        )
    )


if __name__ == "__main__":
    main()
