"""Rates by decoding."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.analysis.grid import grid_figures
from evaluation.reports.analysis_view import grid_charts, setting_name
from evaluation.runs.run_config import Decoding
from evaluation.statistics.bands import rate_band
from evaluation.statistics.measure import Resampler, Settings

GREEDY, HOT = Decoding(temperature=0.0), Decoding(temperature=1.0)
SETTINGS = Settings(bootstrap=400)


def records(desk: SimpleNamespace, questions: int = 12) -> list[object]:
    """Return samples of three settings with known rates.

    The greedy setting never hallucinates. The headline setting hallucinates in every fourth question, the hot setting
    in one of two samples of every second question.
    """
    made = []
    for i in range(questions):
        q = f"q{i:02}"
        made.append(desk.answer(q, "supported", decoding=GREEDY))
        for n in range(2):
            made.append(desk.answer(q, "hallucinated" if i % 4 == 0 else "supported", number=n))
            bad = i % 2 == 0 and n == 0
            made.append(desk.answer(q, "hallucinated" if bad else "abstained", decoding=HOT, number=n))
    return made


def test_rates_by_setting(desk: SimpleNamespace) -> None:
    config = desk.config(grid=(HOT, GREEDY))
    found = grid_figures(config, records(desk), (), Resampler(SETTINGS))
    assert found is not None
    assert [s.temperature for s in found.settings] == [0.0, 0.7, 1.0]
    assert [s.samples for s in found.settings] == [1, 2, 2]
    assert found.headline == 1
    (arm,) = found.arms
    assert arm.responses == (12, 24, 24)
    assert arm.hallucinated.rates == pytest.approx((0.0, 0.25, 0.25))
    assert arm.answered.rates == pytest.approx((0.0, 0.25, 1.0))
    assert all(low <= r <= high for low, r, high in zip(
        arm.hallucinated.lower, arm.hallucinated.rates, arm.hallucinated.upper, strict=True))  # fmt: skip
    assert arm.hallucinated.upper[0] > 0.0  # no event, but the upper limit is above 0


def test_limits_are_wider_than_one_settings_own(desk: SimpleNamespace) -> None:
    found = grid_figures(desk.config(grid=(HOT, GREEDY)), records(desk, 80), (), Resampler(SETTINGS))
    assert found is not None
    band = found.arms[0].hallucinated
    h = np.array([[1.0 if i % 4 == 0 else 0.0] for i in range(80)])
    alone = rate_band(h, np.ones_like(h), np.array([160.0]), Resampler(SETTINGS))
    assert band.cell_level > alone.cell_level == 0.95
    assert band.lower[1] < alone.lower[0] < alone.upper[0] < band.upper[1]


def test_pairs_of_arms_are_compared_at_every_setting(desk: SimpleNamespace) -> None:
    config = desk.config(("closed_book", "rag"), 1, (HOT,))
    made = [
        desk.answer(f"q{i}", "hallucinated" if arm == "closed_book" and i < worse else "supported", arm=arm, decoding=d)
        for d, worse in ((Decoding(), 4), (HOT, 8))
        for arm in ("closed_book", "rag")
        for i in range(10)
    ]
    found = grid_figures(config, made, (("closed_book", "rag"),), Resampler(SETTINGS))
    assert found is not None
    assert found.pairs[0].difference.rates == pytest.approx((0.4, 0.8))
    assert found.pairs[0].difference.lower[1] > 0


def test_one_setting_is_no_grid(desk: SimpleNamespace) -> None:
    assert grid_figures(desk.config(), [desk.answer("q", "supported")], (), Resampler(SETTINGS)) is None


def test_a_question_without_some_settings_is_kept(desk: SimpleNamespace) -> None:
    made = [*records(desk), desk.answer("late", "hallucinated")]
    found = grid_figures(desk.config(grid=(HOT, GREEDY)), made, (), Resampler(SETTINGS))
    assert found is not None
    assert found.arms[0].questions == 13
    assert found.arms[0].hallucinated.rates[1] == pytest.approx(4 / 13)
    assert found.arms[0].hallucinated.rates[0] == 0.0


@pytest.mark.parametrize(
    ("others", "titles", "points"),
    [
        ((HOT, GREEDY), ["no truncation"], [3]),
        (
            (HOT, GREEDY, Decoding(top_p=0.9), Decoding(temperature=1.0, top_p=0.9)),
            ["no truncation", "top-p 0.9"],
            [3, 3],
        ),
        ((Decoding(top_p=0.5), Decoding(top_p=0.9)), ["temperature 0.7"], [3]),
        ((Decoding(top_k=5), Decoding(top_k=50)), ["temperature 0.7"], [3]),
    ],
)
def test_charts_run_over_what_varies(
    desk: SimpleNamespace, others: tuple[Decoding, ...], titles: list[str], points: list[int]
) -> None:
    config = desk.config(grid=others)
    made = [desk.answer(f"q{i}", "supported", decoding=d) for d in config.decodings for i in range(5)]
    found = grid_figures(config, made, (), Resampler(SETTINGS))
    assert found is not None
    charts = grid_charts(found)
    assert [c.title for c in charts] == titles
    assert [len(c.chart.series[0].line.split()) for c in charts] == points


def test_names_of_settings(desk: SimpleNamespace) -> None:
    config = desk.config(grid=(GREEDY, Decoding(temperature=1.0, top_p=0.9, top_k=5)))
    found = grid_figures(config, [desk.answer("q", "supported")], (), Resampler(SETTINGS))
    assert found is not None
    names = [setting_name(s) for s in found.settings]
    assert names == ["greedy", "temperature 0.7", "temperature 1, top-p 0.9, top-k 5"]
