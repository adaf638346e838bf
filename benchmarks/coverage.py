"""Coverage of the intervals of evaluation/: python -m benchmarks.coverage [--write FILE.md].

The intervals are those of rates, differences, answered-only rates and their differences, clustered t, BCa, bands, and
corrections by human labels. Both tails and widths are reported. The time goes to passes over the data sets (replicates
x questions numbers per step of an interval), to the incomplete beta function, and with labels to ten fits of lambda per
data set.

With --state FILE every finished cell is a line of that file, and the same command continues an interrupted run. A cell
is computed again only if more data sets are requested. The output is Markdown; the last line is JSON with the worst
cell of each interval. A cell falls short if its coverage is below the level by more than 3 Monte Carlo standard errors.
With coverage exactly at the level, about 1 cell in 740 does so by chance.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.coverage_cells import Cell
from benchmarks.coverage_corrected import ANSWERED, DIFFERENCES, RATES, labelled, labelled_answers
from benchmarks.coverage_intervals import PAIRS, answered, answered_differences, bands, bca, differences, rates
from benchmarks.coverage_table import as_csv, markdown, worst_of

ANSWERED_SHARE = 5
"""Divisor of the number of data sets for answered-only rates corrected by labels, which cost 40 ms each."""


@dataclass(frozen=True, slots=True)
class Job:
    """The computation of one setting. key: name of the setting, which together with the seed determines its data
    sets.
    """

    key: str
    replicates: int
    make: Callable[[np.random.Generator, int], list[Cell]]

    def run(self, seed: int) -> list[Cell]:
        return self.make(np.random.default_rng([seed, zlib.crc32(self.key.encode())]), self.replicates)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of data sets per cell: for rates and differences, for BCa, for bands, and for corrections by labels."""

    plain: int
    bca: int
    bands: int
    corrected: int


def jobs(sizes: Sizes) -> Iterator[Job]:
    """Yield all settings, the cheap ones first."""
    for n in (20, 50, 200, 1000):
        for m in (1, 3, 8):
            yield from _plain(n, m, sizes.plain)
    for n in (50, 200):
        for m in (1, 8):
            for rate in (0.2, 0.5, 0.9):
                yield Job(f"bca {n} {m} {rate}", sizes.bca, partial(bca, n=n, m=m, rate=rate, rho=0.5))
    for n in (20, 100, 400):
        for m, rho in ((1, 1.0), (4, 0.3), (8, 0.7)):
            for rate in (0.02, 0.1, 0.5):
                make = partial(bands, n=n, m=m, rate=rate, rho=rho)
                yield Job(f"bands {n} {m} {rate} {rho}", sizes.bands, make)
    for model in (*RATES, *DIFFERENCES):
        key = f"labels {model.questions} {model.samples} {model}"
        yield Job(key, sizes.corrected, partial(labelled, model=model))
    for answers in ANSWERED:
        key = f"label answers {answers.questions} {answers.samples} {answers}"
        yield Job(key, sizes.corrected // ANSWERED_SHARE, partial(labelled_answers, model=answers))


def _plain(n: int, m: int, replicates: int) -> Iterator[Job]:
    for rho in (0.0, 0.1, 0.3, 0.6, 0.9, 1.0) if m > 1 else (1.0,):
        for rate in (0.002, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99):
            yield Job(f"rates {n} {m} {rate} {rho}", replicates, partial(rates, n=n, m=m, rate=rate, rho=rho))
    for rho in (0.3, 1.0):
        for rate in (0.01, 0.1, 0.5, 0.9):
            for share, spread in ((0.3, 0.3), (0.7, 0.9), (0.9, 0.1)):
                make = partial(answered, n=n, m=m, rate=rate, rho=rho, answers=share, spread=spread)
                yield Job(f"answered {n} {m} {rate} {rho} {share} {spread}", replicates, make)
    for model in PAIRS:
        yield Job(f"differences {n} {m} {model}", replicates, partial(differences, n=n, m=m, model=model))
        make = partial(answered_differences, n=n, m=m, model=model, answers=0.7)
        yield Job(f"answered differences {n} {m} {model}", replicates, make)


class State:
    """Finished jobs, stored as one line each in an append-only file. If a job has several lines, that with the most
    data sets counts. A truncated last line is skipped.
    """

    def __init__(self, path: Path | None, seed: int) -> None:
        self._path, self._seed = path, seed
        self._done: dict[str, tuple[int, list[Cell]]] = {}
        for line in path.read_text("utf-8").splitlines() if path is not None and path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row["seed"] == seed and row["replicates"] >= self._done.get(row["key"], (0,))[0]:
                self._done[row["key"]] = row["replicates"], [Cell(**c) for c in row["cells"]]

    def cells(self, job: Job) -> list[Cell] | None:
        """Return the results of a job; None if it was not run with this many data sets."""
        replicates, cells = self._done.get(job.key, (0, []))
        return cells if replicates >= job.replicates else None

    def keep(self, job: Job, cells: list[Cell]) -> None:
        self._done[job.key] = job.replicates, cells
        if self._path is None:
            return
        row = {"key": job.key, "seed": self._seed, "replicates": job.replicates, "cells": [asdict(c) for c in cells]}
        cut = self._path.exists() and not self._path.read_bytes().endswith(
            b"\n"
        )  # the process was killed while writing
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" * cut + json.dumps(row) + "\n")


def run(sizes: Sizes, seed: int, state: State, finished: bool = False) -> list[Cell]:
    """Return every cell. The same seed and sizes give the same table, in one run or several. finished: whether to use
    only cells of the state file.
    """
    all_cells: list[Cell] = []
    for job in jobs(sizes):
        cells = state.cells(job)
        if cells is None and finished:
            continue
        if cells is None:
            start = time.perf_counter()
            cells = job.run(seed)
            state.keep(job, cells)
            print(f"{job.key}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
        all_cells += cells
    return all_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--replicates", type=int, default=2000, help="data sets per cell (10000 for the published table)"
    )
    parser.add_argument("--bca-replicates", type=int, default=1000)
    parser.add_argument("--band-replicates", type=int, default=1000, help="about 2 ms each")
    parser.add_argument(
        "--corrected-replicates", type=int, default=500, help="data sets per cell corrected by labels (about 5 ms each)"
    )
    parser.add_argument(
        "--state", type=Path, default=None, metavar="FILE", help="file of finished cells; resumes from it"
    )
    parser.add_argument("--finished", action="store_true", help="only the cells in --state; runs nothing")
    parser.add_argument(
        "--write", type=Path, default=None, metavar="FILE.md", help="the tables; every cell goes to FILE.csv"
    )
    parser.add_argument("--every", action="store_true", help="every cell, not only the worst of each kind")
    parser.add_argument("--seed", type=int, default=20)
    args = parser.parse_args()
    sizes = Sizes(args.replicates, args.bca_replicates, args.band_replicates, args.corrected_replicates)
    start = time.process_time()
    cells = run(sizes, args.seed, State(args.state, args.seed), args.finished)
    if not cells:
        parser.error("there is no finished cell: omit --finished, or name a --state file with finished cells")
    print(markdown(cells, args.every))
    if args.write is not None:
        args.write.write_text(markdown(cells, heading=True), "utf-8")
        args.write.with_suffix(".csv").write_text(as_csv(cells), "utf-8")
    replicates = sorted({c.replicates for c in cells})
    print(
        json.dumps(
            {
                "benchmark": "coverage",
                "processor_seconds": round(time.process_time() - start),
                "cells": len(cells),
                "short": sum(c.short for c in cells),
                "replicates": [replicates[0], replicates[-1]],
                "lowest_coverage": worst_of(cells),
            }
        )
    )


if __name__ == "__main__":
    main()
