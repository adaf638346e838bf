"""A completion becomes a claim with offsets, a refusal, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.claims.extraction import extract_claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Paris", "Paris"),
        ("  Paris [1].\n", "Paris"),
        ("[1] Paris", "Paris"),
        ("Paris [1][2] ", "Paris"),
        ("Paris [1], [2].", "Paris"),
        ("Paris. [1]", "Paris"),
        ("Paris [1] and London [2]", "Paris [1] and London"),
        ("It is [x] 14.", "It is [x] 14."),
        ("Paris [1] is it.", "Paris [1] is it."),
        ("The U.S.", "The U.S."),
    ],
)
def test_one_claim(text: str, claim: str) -> None:
    found = extract_claims(text)
    assert [c.text for c in found.claims] == [claim]
    assert text[found.claims[0].start : found.claims[0].end] == claim
    assert not found.refused


@pytest.mark.parametrize("text", ["", " ", "\n", "...", "[1]", " [1] [2].", "?!"])
def test_nothing_said(text: str) -> None:
    found = extract_claims(text)
    assert (found.claims, found.refused) == ((), False)


@pytest.mark.parametrize("text", ["The documents do not answer this.", "I don't know [1].", " unknown "])
def test_refused(text: str) -> None:
    found = extract_claims(text)
    assert (found.claims, found.refused) == ((), True)


@settings(deadline=None)  # the first call opens the sentence segmenter
@given(st.text(alphabet="ab [1]2.,;\n", max_size=60))
def test_offsets_always_hold(text: str) -> None:
    for claim in extract_claims(text).claims:
        assert text[claim.start : claim.end] == claim.text
        assert claim.text == claim.text.strip()


@pytest.mark.drill
@pytest.mark.parametrize("filler", [" ", "\n \t", " [1]", " [", ". ", "- ", "; "])
def test_hostile_repetition_is_read_in_linear_time(filler: str) -> None:
    # A regular expression with cubic time would take longer than the test suite for 40,000 characters.
    text = "Paris" + filler * (40_000 // len(filler)) + "Lyon"
    extraction = extract_claims(text)
    assert extraction.claims and text[extraction.claims[0].start :].startswith("Paris")
