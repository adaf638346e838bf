"""Decoding grids from lists of temperatures, top-p and top-k."""

from __future__ import annotations

import pytest

from app.errors import UsageError
from app.runs.decoding_grid import decoding_grid
from evaluation.runs.run_config import Decoding

SINGLE = Decoding(0.7, max_tokens=32)


def temperatures(*lists: str | None, single: Decoding = SINGLE, greedy: bool = True) -> list[float]:
    grid = decoding_grid(single, *(*lists, *(None,) * (3 - len(lists))), greedy=greedy)
    return [d.temperature for d in (grid.headline, *grid.others)]


def test_the_headline_is_the_single_setting_where_the_grid_has_it() -> None:
    assert temperatures("0,0.7,1") == [0.7, 0.0, 1.0]
    assert temperatures("1,0.7") == [0.7, 0.0, 1.0]
    assert temperatures("0,0.5,1") == [0.5, 0.0, 1.0]
    assert temperatures("0") == [0.0]
    assert temperatures("1", greedy=False) == [1.0]


def test_greedy_stands_in_it_once() -> None:
    grid = decoding_grid(SINGLE, "0,1", "0.5,1", "5,all")
    cells = [(d.temperature, d.top_p, d.top_k) for d in (grid.headline, *grid.others)]
    # 0.7 is not in the grid: the first that samples is the headline.
    assert cells == [(1.0, 0.5, 5), (0.0, 1.0, None), (1.0, 0.5, None), (1.0, 1.0, 5), (1.0, 1.0, None)]
    assert all(d.max_tokens == 32 for d in grid.others)


def test_without_lists_there_is_greedy_or_nothing() -> None:
    assert temperatures(greedy=False) == [0.7]
    assert temperatures() == [0.7, 0.0]
    assert temperatures(single=Decoding(0.0)) == [0.0]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (("0,x",), "--temperatures.*'x'"),
        (("0,,1",), "0,,1"),
        (("-1",), "temperature.*-1.0"),
        (("nan",), "temperature.*nan"),
        ((None, "0"), "top_p.*0.0"),
        ((None, None, "0"), "'0'"),
        ((None, None, "1.5"), "'1.5'"),
        ((",".join(str(t / 100) for t in range(1, 100)),), "99.*64"),
    ],
)
def test_what_cannot_be_is_named(lists: tuple[str | None, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        temperatures(*lists)
