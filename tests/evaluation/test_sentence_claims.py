"""A longer completion becomes one claim per statement, with offsets; fillers are left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.claims.sentences import extract_sentences, plain_claim_text, sentence_claims

CHATTY = """Sure! Here is the answer:

## The lighthouse

1. The **Marn lighthouse** is 31 metres tall [1].
2. It was lit in 1874. [2]

Some more facts:
- Its keeper, Dr. Osk, kept bees
* It is open on Sundays [1][3].

| Year | Height |
|------|--------|
| 1901 | 33 m   |

Sources: [1], [2] and [3]

I hope this helps! Let me know if you have any other questions."""


def claims_of(text: str) -> list[str]:
    return [c.text for c in sentence_claims(text)]


def test_a_chatty_answer_in_markdown() -> None:
    assert claims_of(CHATTY) == [
        "The **Marn lighthouse** is 31 metres tall",
        "It was lit in 1874.",
        "Its keeper, Dr. Osk, kept bees",
        "It is open on Sundays",
        "| 1901 | 33 m   |",
    ]
    assert [plain_claim_text(t) for t in claims_of(CHATTY)][::4] == [
        "The Marn lighthouse is 31 metres tall",
        "1901, 33 m",
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("It is open to 8 p.m. Guests can park.", ["It is open to 8 p.m.", "Guests can park."]),
        ('He said "by 4.30 A.M." It was so.', ['He said "by 4.30 A.M."', "It was so."]),
        (
            "It shut at 10:15 p.m.  A man left, and then so did I.",
            ["It shut at 10:15 p.m.", "A man left, and then so did I."],
        ),
        ("It left at 7 a.m. Friday and at 9 p.m. Sundays.", None),
        ("They call at 5 p.m. Eastern or 11 p.m. GMT each day.", None),
        ("He went to the 8 p.m. Mass and each 9 p.m. Showing since.", None),
        ("Open from 9 a.m. to 5 p.m. on the Hartley side only.", None),
    ],
)
def test_a_time_of_day_may_end_a_sentence(text: str, claims: list[str] | None) -> None:
    assert claims_of(text) == (claims or [text])


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Paris", ["Paris"]),
        ("  12 metres [1].\n", ["12 metres"]),
        ("St. John's", ["St. John's"]),
        ("Yes.", ["Yes."]),
        ("No", ["No"]),
        ("5. June 1990", ["5. June 1990"]),
        ("J. R. Mole and P. Q. Vole", ["J. R. Mole and P. Q. Vole"]),
        ("Yes. The fee is waived. It is waived for life.", ["Yes. The fee is waived.", "It is waived for life."]),
        ("Answer: The ferry leaves at nine.", ["The ferry leaves at nine."]),
        ("Based on the provided documents, the ferry leaves at nine.", ["the ferry leaves at nine."]),
        ("According to the passages [1], it floats. It is red.", ["it floats.", "It is red."]),
        ("The ferry\nleaves at\nnine. It is red.", ["The ferry\nleaves at\nnine.", "It is red."]),
        ("Depth: 60 m\nCable: 12 m", ["Depth: 60 m", "Cable: 12 m"]),
        ("a) The mast is oak.\nb) The deck is pine.", ["The mast is oak.", "The deck is pine."]),
        ("> - [x] The mast is oak.", ["The mast is oak."]),
        ("**Mast**\nThe mast is oak.", ["The mast is oak."]),
        ("Please note that the office closes at noon.", ["Please note that the office closes at noon."]),
        ("Hello! The office closes at noon. Does that help?", ["The office closes at noon."]),
        ("The documents do not say when. It was built of oak.", ["It was built of oak."]),
        ("I don't know the year, but it was built of oak.", ["I don't know the year, but it was built of oak."]),
        ("It was built of oak. Please check the archive.", ["It was built of oak."]),
        ("Here is the mast that weighs 300 kg.", ["Here is the mast that weighs 300 kg."]),
    ],
)
def test_claims(text: str, claims: list[str]) -> None:
    found = extract_sentences(text)
    assert [c.text for c in found.claims] == claims
    assert all(text[c.start : c.end] == c.text for c in found.claims)
    assert not found.refused


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "[1] [2].",
        "?!",
        "Hello there!",
        "Sure, here are the details:",
        "Which office do you mean?",
        "## Answer",
        "**Summary**",
        "|---|---|",
        "I'd be happy to help you with that.",
    ],
)
def test_nothing_claimed(text: str) -> None:
    found = extract_sentences(text)
    assert (found.claims, found.refused) == ((), False)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "The documents do not say.",
        "I'm sorry. The passages do not mention the mast. Please check the archive.",
        "Hello! I am not sure. Which mast do you mean?",
    ],
)
def test_refused(text: str) -> None:
    found = extract_sentences(text)
    assert (found.claims, found.refused) == ((), True)


@pytest.mark.parametrize(
    ("claim", "heard"),
    [
        ("It is **very** old [1] and `dry`", "It is very old and dry"),
        ("a\x00b\x1b[31m\u202ec\ud800d\n e", "a b [31m c d e"),
        ("snake_case 2*3*4 stay", "snake_case 2*3*4 stay"),
        ("[1]", ""),
        ("", ""),
    ],
)
def test_what_a_scorer_reads(claim: str, heard: str) -> None:
    assert plain_claim_text(claim) == heard


_PIECES = st.lists(
    st.sampled_from(
        ["The mast is oak.", " ", "\n", "\n\n", "- ", "1. ", "# ", "**", "[1]", "|", "---", "Yes.", "I don't know.",
         "Why?", "Sure!", "Answer: ", "a:", "\r", "\x00", "é", "😀", ">", "`", "."]
    ),
    max_size=14,
)  # fmt: skip


@given(st.one_of(st.text(max_size=80), _PIECES.map("".join)))
def test_offsets_always_hold(text: str) -> None:
    found = extract_sentences(text)
    end = 0
    for claim in found.claims:
        assert text[claim.start : claim.end] == claim.text
        assert claim.start >= end, "claims overlap"
        assert claim.text == claim.text.strip() and any(c.isalnum() for c in claim.text)
        end = claim.end
    assert not (found.claims and found.refused)


@pytest.mark.parametrize("characters", [20_000, pytest.param(100_000, marks=pytest.mark.drill)])
@pytest.mark.parametrize(
    "filler", [" ", "\n", "- ", "1. ", "|", "-", "*", "_", "**a", "[1]", "> ", "a: ", "Why? ", "#"]
)
def test_hostile_repetition_is_read_in_linear_time(filler: str, characters: int) -> None:
    text = "Paris" + filler * (characters // len(filler)) + "Lyon"
    assert all(text[c.start : c.end] == c.text for c in sentence_claims(text))
    assert len(plain_claim_text(text)) <= len(text)
