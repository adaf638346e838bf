"""Numbers with thousands of digits, and digits that are not decimal, are read as words and do not raise errors."""

from __future__ import annotations

import pytest

from evaluation.language.normalise import LONGEST_NUMBER, fold, tokenise
from evaluation.verifiers.matching import compare
from evaluation.verifiers.reading import read_text
from generation.citations import find_citations

DIGITS = "9" * 6000
TEXTS = [
    DIGITS,
    f"The answer is {DIGITS}.",
    f"{DIGITS} km",
    f"€{DIGITS}",
    f"{DIGITS}%",
    f"0.{DIGITS}",
    f"-{DIGITS}",
    f"{DIGITS}:30",
    f"12:{DIGITS} pm",
    f"3/{DIGITS}",
    f"{DIGITS}/3 cup",
    f"2024-{DIGITS}-01",
    f"{DIGITS}.04.2021",
    f"{DIGITS}th of March",
    f"March {DIGITS}, 2021",
    "1," + "000," * 3000 + "000",
    "٣" * 6000,
    "²" * 6000,
    "9" * 250 + " million" * 3000,
    "five " + "million " * 3000,
    "March 4 ፩፩፩፩",
    "① ② ፩ March ፩፪፫፬",
    f"[{DIGITS}] and [1, {DIGITS}]",
    "1/0 cup",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_they_are_compared_and_support_nothing_else(text: str) -> None:
    read_text(text)
    for one, other in ((text, "42 km"), ("42 km", text), ("4 March 2021", text)):
        assert compare(one, other, "How far?", 0.5).label != "supported"
    assert all(citation.number <= 3 for citation in find_citations(text, 3))


def test_the_same_digits_are_the_same_and_others_are_not() -> None:
    assert compare(f"It is {DIGITS}.", f"It is {DIGITS}.", "What is it?", 0.5).label == "supported"
    assert compare(f"It is {DIGITS}1.", f"It is {DIGITS}.", "What is it?", 0.5).label != "supported"


def test_what_is_still_a_number() -> None:
    kinds = [tokenise(fold("9" * length))[0].kind for length in (1, LONGEST_NUMBER, LONGEST_NUMBER + 1)]
    assert kinds == ["number", "number", "word"]
