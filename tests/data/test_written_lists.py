"""Lists in cells, in the notation of numpy, Python or JSON, are read as lists of their items."""

from __future__ import annotations

import numpy as np
import pytest

from data.written_lists import ShortenedListError, written_list


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        (str(np.array(["a mill", "it's open", 'say "no"'], dtype=object)), ["a mill", "it's open", 'say "no"']),
        (str(np.array(["x" * 50, "y" * 50, "z" * 50])), ["x" * 50, "y" * 50, "z" * 50]),
        (repr(np.array(["a", "b"], dtype=object)), ["a", "b"]),
        ("['a'\n 'b'\n None]", ["a", "b", None]),
        ("['only one']", ["only one"]),
        ("['a', 'b']", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', nan]", ["a", None]),
        ("[]", []),
    ],
)
def test_items_stay_apart(cell: str, items: list[str | None]) -> None:
    assert written_list(cell) == items


@pytest.mark.parametrize("cell", ["[see note 4] The mill", "['a' 'b'", "[sic]", "['a' b]"])
def test_other_cells_stay_text(cell: str) -> None:
    assert written_list(cell) == cell


def test_an_array_that_numpy_shortened_is_refused() -> None:
    with pytest.raises(ShortenedListError):
        written_list(str(np.array([f"passage {n}" for n in range(5000)])))
