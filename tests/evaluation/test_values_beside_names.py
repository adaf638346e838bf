"""A number of a name does not take the unit of the number behind it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evaluation.verifiers.matching import compare
from evaluation.verifiers.reading import read_text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The Heron 4 lasts five years", [(4, None), (5, "year")]),
        ("Model 7 weighs twelve kilograms", [(7, None), (12, "kilogram")]),
        ("12 large boxes", [(12, None)]),
        ("20 working days", [(20, "day")]),
    ],
)
def test_every_number_has_its_own_unit(text: str, values: list[tuple[int, str | None]]) -> None:
    found = read_text(text).values
    assert [v.number.value if v.number else None for v in found] == [Fraction(number) for number, _ in values]
    assert [v.units[0].name if v.units else None for v in found] == [unit for _, unit in values]


@pytest.mark.parametrize("question", ["", "How long is the warranty of the Heron 4?"])
def test_another_value_contradicts_beside_the_questions_own_number(question: str) -> None:
    match = compare("The warranty of the Heron 4 lasts five years", "3 years", question, 0.8)
    assert match.label == "contradicted"
