"""Missing values of data frames are missing: no reference "nan", no context, no answer."""

from __future__ import annotations

import math

import pytest

from data.answer_records import record_from_fields
from data.missing import is_missing


def test_nan_is_no_reference_and_no_context() -> None:
    row = {
        "question": "How long?",
        "answer": "a year",
        "contexts": ["A year.", math.nan, None],
        "ground_truth": math.nan,
    }
    record = record_from_fields(row, "1", "here")
    assert record.references == ()
    assert record.contexts == ("A year.",)


@pytest.mark.parametrize("cell", ["nan", "NaN", "<NA>", "None", "null"])
def test_words_for_missing_values_in_cells(cell: str) -> None:
    record = record_from_fields(
        {"question": "q", "answer": "a", "contexts": cell, "reference": cell}, "1", "here", cells=True
    )
    assert record.contexts == () and record.references == ()


def test_a_missing_answer_is_empty_and_an_answer_of_none_stays() -> None:
    assert record_from_fields({"question": "q", "answer": "nan"}, "1", "here", cells=True).answer == ""
    assert record_from_fields({"question": "q", "answer": math.nan}, "1", "here").answer == ""
    assert record_from_fields({"question": "q", "answer": "None"}, "1", "here", cells=True).answer == "None"


def test_outside_of_tables_the_word_is_a_word() -> None:
    assert record_from_fields({"question": "q", "answer": "nan", "reference": "nan"}, "1", "here").references == (
        "nan",
    )


@pytest.mark.parametrize("value", ["nan", 0, 0.0, False, [], {}])
def test_values_that_are_there(value: object) -> None:
    assert not is_missing(value)
