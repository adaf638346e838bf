"""Delay and false alarms of the drift watch on streams with a known rate, compared with a rolling z-test.

    python -m benchmarks.calibration_watch                    # 2,000 streams of 2,000 audited answers
    python -m benchmarks.calibration_watch --streams 200

alpha is 0.1, delta 0.05. Every stream is checked after every audited answer. "false alarms" is the share of streams
that ever raise one while the rate is at most alpha. If the rate rises at answer 500, alarms before it are false. The
delay is the median number of audited answers from the rise to the alarm, among streams that raise one. The rolling
z-test uses the last 100 answers and alarms if their rate exceeds alpha by 1.645 standard errors. "audited unequally":
with a verifier of 80 % accuracy, answers are audited with probability 0.4 if it flags them, else 0.1. "missed" is the
share of streams whose confidence sequence excludes the true rate at any time. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.guarantee.betting import mean_capital
from evaluation.guarantee.watching.stream import BETS, after_answer, alarm_capital, log_factors

Floats = NDArray[np.float64]
ALPHA, DELTA, RISE, WINDOW = 0.1, 0.05, 500, 100


@dataclass(frozen=True, slots=True)
class Cell:
    """Result of one method on one kind of stream. delay: median number of audited answers after the rise; None without
    a rise or an alarm. noticed: share of streams with an alarm after the rise and none before. missed: None if the rate
    changes.
    """

    stream: str
    method: str
    streams: int
    false_alarms: float
    noticed: float | None
    delay: float | None
    missed: float | None


def first(raised: NDArray[np.bool_]) -> Floats:
    """Return the index of the first True of each row, (S, T) -> (S,); infinity if there is none."""
    return np.where(raised.any(axis=1), raised.argmax(axis=1).astype(np.float64), np.inf)


def e_process(events: Floats, size: Floats) -> NDArray[np.bool_]:
    """Return whether the alarm's wealth is at least 1 / delta at each time, (S, T)."""
    capital, raised = np.full((len(events), BETS.size), -np.inf), np.zeros(events.shape, dtype=np.bool_)
    for t in range(events.shape[1]):
        capital = after_answer(capital, log_factors(events[:, t], ALPHA, size[:, t]), t + 1)
        raised[:, t] = alarm_capital(capital, t + 1) >= math.log(1 / DELTA)
    return raised


def missed(events: Floats, size: Floats, rate: float) -> float:
    """Return the share of streams whose confidence sequence excludes the rate at any time."""
    above, below = np.zeros((len(events), BETS.size)), np.zeros((len(events), BETS.size))
    out = np.zeros(len(events), dtype=np.bool_)
    for t in range(events.shape[1]):
        above += log_factors(events[:, t], rate, size[:, t])
        below += log_factors(1 - events[:, t], 1 - rate, size[:, t])
        out |= np.maximum(mean_capital(above), mean_capital(below)) >= math.log(2 / DELTA)
    return float(out.mean())


def rolling_z(events: Floats) -> NDArray[np.bool_]:
    """Return whether the rate of the last 100 answers exceeds alpha by 1.645 standard errors, (S, T)."""
    sums = np.cumsum(events, axis=1)
    sums[:, WINDOW:] -= sums[:, :-WINDOW].copy()
    raised = sums / WINDOW > ALPHA + 1.645 * math.sqrt(ALPHA * (1 - ALPHA) / WINDOW)
    raised[:, : WINDOW - 1] = False
    return np.asarray(raised)


def cells(streams: int, length: int, seed: int = 5) -> list[Cell]:
    """Return all results."""
    results = []
    for name, before, after in (
        ("r = alpha throughout", ALPHA, ALPHA),
        ("r = alpha / 2 throughout", ALPHA / 2, ALPHA / 2),
        ("r = alpha / 2, then 1.5 alpha", ALPHA / 2, 1.5 * ALPHA),
        ("r = alpha / 2, then 2 alpha", ALPHA / 2, 2 * ALPHA),
        ("r = alpha / 2, then 4 alpha", ALPHA / 2, 4 * ALPHA),
    ):
        rng = np.random.default_rng([seed, round(1000 * after)])
        rate = np.where(np.arange(length) < RISE, before, after)
        events = (rng.random((streams, length)) < rate) * 1.0
        ones = np.ones_like(events)
        miss = missed(events, ones, before) if before == after else None
        results.append(_cell(name, "e-process", e_process(events, ones), before == after, miss))
        results.append(_cell(name, "rolling z-test", rolling_z(events), before == after, None))
    for name, rate_now in (("r = alpha, audited unequally", ALPHA), ("r = 2 alpha, audited unequally", 2 * ALPHA)):
        rng = np.random.default_rng([seed, 9, round(1000 * rate_now)])
        events, size = unequal(rng, streams, length, rate_now)
        raised = e_process(events, size)
        if rate_now == ALPHA:
            results.append(_cell(name, "e-process", raised, True, missed(events, size, rate_now)))
        else:
            at = first(raised)
            seen = np.isfinite(at)
            delay = float(np.median(at[seen]) + 1) if seen.any() else None
            miss = missed(events, size, rate_now)
            results.append(Cell(name, "e-process", streams, 0.0, float(seen.mean()), delay, miss))
    return results


def unequal(rng: np.random.Generator, streams: int, length: int, rate: float) -> tuple[Floats, Floats]:
    """Draw the audited answers of streams. Returns events, and floor / probability of each, both (S, T)."""
    answers = 12 * length
    truth = rng.random((streams, answers)) < rate
    flagged = truth ^ (rng.random(truth.shape) < 0.2)
    probability = np.where(flagged, 0.4, 0.1)
    audited = rng.random(truth.shape) < probability
    place = np.argsort(~audited, axis=1, kind="stable")[:, :length]
    rows = np.arange(streams)[:, None]
    return truth[rows, place] * 1.0, 0.1 / probability[rows, place]


def _cell(name: str, method: str, raised: NDArray[np.bool_], quiet: bool, miss: float | None) -> Cell:
    at = first(raised)
    if quiet:
        return Cell(name, method, len(raised), float(np.isfinite(at).mean()), None, None, miss)
    false, good = at < RISE, (at >= RISE) & np.isfinite(at)
    delay = float(np.median(at[good]) - RISE + 1) if good.any() else None
    return Cell(name, method, len(raised), float(false.mean()), float(good.mean()), delay, None)


def markdown(found: list[Cell]) -> str:
    """Return the results as one table."""

    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    lines = ["| stream | method | false alarms | noticed | median delay | sequence missed |", "|---" * 6 + "|"]
    lines += [
        f"| {c.stream} | {c.method} | {c.false_alarms:.4f} | {shown(c.noticed, '.3f')} | {shown(c.delay, '.0f')} "
        f"| {shown(c.missed, '.4f')} |"
        for c in found
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--length", type=int, default=2000)
    arguments = parser.parse_args()
    results = cells(arguments.streams, arguments.length)
    print(markdown(results))
    print(json.dumps([asdict(c) for c in results]))


if __name__ == "__main__":
    main()
