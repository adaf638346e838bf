"""The data sets of the coverage table: closed-form states against the beta and binomial draws they stand for."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import Sizes, State, jobs
from benchmarks.coverage_cells import Cell
from benchmarks.coverage_draws import PairModel, answer_pair_states, answer_states, draw_states, events
from benchmarks.coverage_table import as_csv, markdown


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.5, 1.0])
def test_events_have_the_mean_and_the_correlation(rate: float, correlation: float) -> None:
    chances = events(8, rate, correlation)
    count = np.arange(9)
    assert chances.sum() == pytest.approx(1.0)
    assert chances @ count == pytest.approx(8 * rate)
    variance = 8 * rate * (1 - rate) * (1 + 7 * correlation)
    assert chances @ (count - 8 * rate) ** 2 == pytest.approx(variance)


@pytest.mark.parametrize("model", [PairModel(0.3, 0.5, 0.5, 0.3, 0.05), PairModel(0.5, 1.0, 1.0, 0.1)])
def test_pairs_are_what_their_description_draws(model: PairModel) -> None:
    chances = model.outcomes(3, 3)
    assert chances.sum() == pytest.approx(1.0)
    rng = np.random.default_rng(1)
    n = 200_000
    one, two = (rng.beta(0.3, 0.7, n) if model.correlation == 0.5 else rng.integers(0, 2, n) * 1.0 for _ in range(2))
    two = np.where(rng.random(n) < model.shared, one, two)
    coin = rng.random(n)
    fixed, broken = coin < model.fixed, (coin >= model.fixed) & (coin < model.fixed + model.broken)
    one, two = np.where(fixed, 1, np.where(broken, 0, one)), np.where(fixed, 0, np.where(broken, 1, two))
    seen = np.zeros((4, 4))
    np.add.at(seen, (rng.binomial(3, one), rng.binomial(3, two)), 1 / n)
    # 16 shares of 200,000: five standard errors of the largest possible, 0.0011, are 0.0056; the seed is fixed.
    assert np.abs(seen - chances).max() < 0.0056


def test_answers_that_abstain() -> None:
    states = answer_states(8, 0.7, 0.9, 0.1, 0.3)
    assert states.probabilities.sum() == pytest.approx(1.0)
    assert states.probabilities @ states.answers == pytest.approx(8 * 0.7)
    assert states.probabilities @ states.events == pytest.approx(8 * 0.7 * 0.1)
    assert np.all(states.events <= states.answers)
    both = answer_pair_states(3, PairModel(0.3, 0.5, 1.0, 0.2), 0.7, 0.5)
    assert both.probabilities.sum() == pytest.approx(1.0)
    gap = both.probabilities @ (both.events[0] - both.events[1])
    assert gap == pytest.approx(3 * 0.7 * 0.2)


@pytest.mark.parametrize("states", [3, 500])
def test_both_ways_of_drawing_have_the_shares(states: int) -> None:
    chances = np.arange(1.0, states + 1)
    drawn = draw_states(np.random.default_rng(2), (40, 5000), chances)
    seen = np.bincount(drawn.ravel(), minlength=states) / drawn.size
    # Five standard errors of the largest share, sqrt(p / 200,000), p at most 0.5.
    assert drawn.shape == (40, 5000) and np.abs(seen - chances / chances.sum()).max() < 0.008


def test_a_stopped_table_goes_on_and_more_data_sets_replace_fewer(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    few, more = (next(iter(jobs(Sizes(size, 1, 1, 1)))) for size in (300, 400))
    state = State(path, 7)
    assert state.cells(few) is None
    state.keep(few, few.run(7))
    with path.open("a") as file:
        file.write('{"key": "rates 20 1 0.0')  # a kill
    again = State(path, 7)
    assert again.cells(few) == few.run(7) and again.cells(more) is None and State(path, 8).cells(few) is None
    again.keep(more, more.run(7))
    found = State(path, 7).cells(few)
    assert found is not None and found[0].replicates == 400
    assert State(path, 7).cells(more) == found


def test_the_table_names_the_worst_cell_and_what_falls_short() -> None:
    cells = [
        Cell("rate", "rate 0.1", 20, 8, 10_000, 0.01, 0.02, 0.2),
        Cell("rate", "rate 0.5", 20, 8, 10_000, 0.04, 0.03, 0.3),
        Cell("band", "six", 50, 1, 4000, 0.0, 0.0, 0.5),
    ]
    text = markdown(cells, every=True, heading=True)
    assert "| 20 | 2 | 0.9300 | 8 samples, rate 0.5 | 0.0400 | 0.0300 | 0.2500 | 1 |" in text
    assert "2 cells of 10,000 data sets; 1 short." in text and "1 cell of 4,000 data sets; 0 short." in text
    assert "| 20 | 8 | rate 0.1 | 10000 | 0.9700 | 0.0100 | 0.0200 | 0.2000 |  |" in text
    assert "One standard error is 0.0022 with 10,000 data sets and 0.0034 with 4,000 data sets." in text


def test_every_cell_is_a_row_of_the_csv() -> None:
    cells = [
        Cell("rate", "rate 0.5, correlation 1.0", 50, 8, 10_000, 0.04, 0.03, 0.3),
        Cell("rate", "rate 0.1, correlation 0.3", 20, 8, 10_000, 0.01, 0.02, 0.2),
    ]
    rows = list(csv.DictReader(io.StringIO(as_csv(cells))))
    assert [row["setting"] for row in rows] == ["rate 0.1, correlation 0.3", "rate 0.5, correlation 1.0"]
    assert [(row["coverage"], row["short"]) for row in rows] == [("0.9700", ""), ("0.9300", "short")]
