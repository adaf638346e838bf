"""Folding, tokens and token F1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.language.normalise import fold, normalise, singular, token_f1, tokenise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("São Paulo", "sao paulo"),
        ("ﬁrst", "first"),
        ("Straße", "strasse"),
        ("U.S.", "us"),
        ("Anna’s dog", "anna dog"),
        ("don’t", "dont"),
        ("well-known", "well known"),
        ("1,200", "1200"),
        ("Marks & Spencer", "marks and spencer"),
        ("Paris [1].", "paris"),
        ("Paris[1][12]", "paris"),
        ("an apple a day", "apple day"),
        ("Ｐａｒｉｓ", "paris"),
        ("C++", "c++"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert normalise(one) == other == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5", "35"),
        ("-5", "5"),
        ("£40", "$40"),
        ("C#", "C"),
        ("C++", "C"),
        ("vitamin A", "vitamin"),
        ("5%", "5"),
        ("a", "b"),
    ],
)
def test_different(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_article_that_ends_a_phrase_is_a_name() -> None:
    assert normalise("vitamin a") == "vitamin a"
    assert normalise("The A") == "a"


@given(st.text(max_size=80))
def test_tokens_cover_the_folded_text(text: str) -> None:
    folded = fold(text)
    tokens = tokenise(folded)
    assert all(folded[t.start : t.end] == t.text for t in tokens)
    assert "".join(t.text for t in tokens) == "".join(folded.split())


@given(st.text(max_size=80))
def test_normalising_again_changes_nothing_for_words(text: str) -> None:
    letters = "".join(c for c in text if c.isascii() and (c.isalpha() or c == " "))
    assert normalise(normalise(letters) + " end") == normalise(letters + " end")


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        (("a", "b"), ("a", "b"), 1.0),
        (("a",), ("a", "b"), 2 / 3),
        (("a", "a"), ("a", "b"), 0.5),
        (("c",), ("a", "b"), 0.0),
        ((), ("a",), 0.0),
        ((), (), 0.0),
    ],
)
def test_token_f1(answer: tuple[str, ...], reference: tuple[str, ...], expected: float) -> None:
    assert token_f1(answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("plural", "expected"),
    [("days", "day"), ("berries", "berry"), ("boxes", "box"), ("glass", "glass"), ("bus", "bus"), ("axis", "axis")],
)
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected
