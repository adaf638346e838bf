from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.verifier.extrinsic import extrinsic

EVIDENCE = (
    "The Skellwick ferry was built in 1936 by Osei & Daughters for 1,500,000 kroner and carries three hundred people "
    "at 12.4 knots. It left Hamburg on 03/04/2021 at 17:30. The NIH and the U.S. Navy paid 40 percent."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The ferry of Skellwick was built in 1936.",
        "It was built in the 1930s.",
        "It was built in the 20th century.",
        "It cost 1.5 million kroner, or 1500000.",
        "It cost 1,500 thousand kroner.",
        "It carries 3 hundred people.",
        "It makes 12 knots, 12.40 to be exact.",
        "It left at 5:30 PM in April.",
        "It left at 5 p.m. on a Saturday.",
        "The National Institutes of Health paid 40%.",
        "The United States Navy paid.",
        "Ferries of Hamburg's Skellwick line.",
        "Nobody paid. Greenland did.",
        "SKELLWICK FERRY LEAVES GREENLAND AGAIN",
        "Skellwick Ferry Leaves Greenland Again After Repairs",
        "",
        "🜚",
    ],
)
def test_what_the_evidence_says_in_other_words_is_not_missing(claim: str) -> None:
    assert extrinsic(claim, EVIDENCE) == (0, 0)


@pytest.mark.parametrize(
    ("claim", "numbers", "names"),
    [
        ("The ferry was built in 1937.", 1, 0),
        ("The ferry was built in the 1940s, in the 19th century.", 2, 0),
        ("It carries 301 people and 301 dogs at 13.4 knots.", 2, 0),
        ("It left at 6:45 PM, not at 6:45.", 2, 0),
        ("It cost 15 million kroner.", 1, 0),
        ("It left Bremen for Tromsø in Norway.", 0, 3),
        ("The World Health Organization paid.", 0, 3),
        ("Greenland paid.", 0, 0),  # what begins a sentence may be any word
        ("According to Greenland's press, Greenland paid 7.", 1, 1),
        ("34 345 678", 3, 0),
    ],
)
def test_what_stands_nowhere_is_counted_once(claim: str, numbers: int, names: int) -> None:
    assert extrinsic(claim, EVIDENCE) == (numbers, names)


def test_words_of_the_question_are_known() -> None:
    claim = "The ferry came to Bremen in 1999."
    assert extrinsic(claim, EVIDENCE) == (1, 1)
    assert extrinsic(claim, EVIDENCE, "When did the ferry come to Bremen, before 1999 or after?") == (0, 0)
    assert extrinsic(claim, "") == (1, 1)


def test_months_are_known_where_dates_are_written_in_digits() -> None:
    assert extrinsic("It left in May.", "It left on 2021-05-03.") == (0, 0)
    assert extrinsic("It left in May.", "It left in June.") == (0, 1)
    assert extrinsic("The war of 1990 ended in 1995.", "the war (1990–95)") == (0, 0)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_read(claim: str, evidence: str, question: str) -> None:
    found = extrinsic(claim, evidence, question)
    assert found.numbers >= 0 and found.names >= 0
    assert extrinsic(claim, f"{evidence} {claim.lower()} {claim}", question).names == 0


@pytest.mark.drill
@pytest.mark.parametrize(
    "text",
    ["9" * 200_000, "1," * 100_000, "1.5 million " * 20_000, "A" * 200_000, "Aa " * 60_000, "1990 " + "–" * 100_000,
     "1 - 1" * 50_000, "Of the " * 40_000, "(" * 200_000, "A-" * 100_000, "U.S." * 50_000, "9" * 400 + "am"],
)  # fmt: skip
def test_long_texts_come_to_an_end(text: str) -> None:
    """A regex that goes wrong would take hours; this takes half a second."""
    assert extrinsic(text[:5000], text, text[:5000]) == (0, 0)
    assert extrinsic(f"Yes, Abc {text}", "Nothing of it.").names >= 1


@pytest.mark.parametrize(
    "claim",
    [
        "Free Wi-Fi is offered in Madison, Wisconsin, at Suite 12 of Larch Street.",
        "The clinic in Madison, Wisconsin, is a Danish one on Brook Avenue.",
        "There are some 200 seats, nearly 215, more than 190, and over $200 of them sold.",
        "They say about 20 percent or 33 % stay away.",
    ],
)
def test_names_and_hedged_numbers_have_other_forms(claim: str) -> None:
    evidence = (
        '{"address": "4 Larch St, Ste 12, corner of Brook Ave", "city": "Madison", "state": "WI", "WiFi": "free"} '
        "Denmark's clinic has 212 seats. A fifth stay away, a third come late."
    )
    assert extrinsic(claim, evidence) == (0, 0)


def test_other_forms_are_whole_words_and_hedges_do_not_reach_far() -> None:
    assert extrinsic("It is in Washington.", "WA") == (0, 0)
    assert extrinsic("It is in Washington.", "WAS wa") == (0, 1)  # neither the code nor a word of its own
    assert extrinsic("It is on Larch Street.", "Larch stands here") == (0, 1)
    assert extrinsic("About 300 seats, and 200.", "212 seats") == (2, 0)
    assert extrinsic("About the year 1980 it had 200.", "212 seats in 1980") == (1, 0)
