"""Sentences are split into simpler claims only where each part is complete by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.claims.sentences import extract_sentences
from evaluation.claims.splitting import extract_split_claims, split_spans


def parts(sentence: str) -> list[str]:
    return [sentence[s.start : s.end] for s in split_spans(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The mast is oak, and it was cut in 1820.", ["The mast is oak", "it was cut in 1820."]),
        ("The mast is oak and the deck is pine.", ["The mast is oak", "the deck is pine."]),
        ("The mast is oak; the deck is pine.", ["The mast is oak", "the deck is pine."]),
        ("Odo built the mill, but Ines Vale sold it.", ["Odo built the mill", "Ines Vale sold it."]),
        ("The mill was sold in 1820 while Odo kept the boat.", ["The mill was sold in 1820", "Odo kept the boat."]),
        (
            "The mill was sold, and it burned down in May, and the wheel was saved.",
            ["The mill was sold", "it burned down in May", "the wheel was saved."],
        ),
        (
            "He bought the boat, which carries nine sheep.",
            ["He bought the boat", "the boat, which carries nine sheep."],
        ),
        ("It was sold to Ines Vale, who lives in Marn.", ["It was sold to Ines Vale", "Ines Vale, who lives in Marn."]),
        (
            "The mast is oak, and it was cut by Odo, who died in 1830.",
            ["The mast is oak", "it was cut by Odo", "Odo, who died in 1830."],
        ),
    ],
)
def test_cut(sentence: str, expected: list[str]) -> None:
    assert parts(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Paris, London and Rome are large.",
        "The mast was cut and sold in 1820.",  # the second part has no subject
        "The firm makes ropes and nets.",
        "If the mast is oak and the deck is pine, it floats.",
        "Odo said that the mill was sold and the boat was burned.",
        "According to Odo, the mast is oak and the deck is pine.",
        "Either the mast is oak or the deck is pine.",
        "It was built because the old one was lost and it was needed.",
        "The mast is oak or it is pine.",
        'He called it "a mast that is oak and it is tall".',
        "The mast (it is oak and it is tall) stands in Marn.",
        "The painter and the sculptor were brothers.",
        "Trade between Marn and the painted islands of the north grew.",
        "The boat, which carries nine sheep, was sold.",  # the rest would lose its subject
        "The boat which carries nine sheep was sold.",
        "14 and 15 May",
        "Yes",
        "",
        "   ",
        "and",
        ";",
    ],
)
def test_not_cut(sentence: str) -> None:
    assert parts(sentence) == [sentence]


def test_a_completion_keeps_refusals_and_short_answers_as_they_are() -> None:
    assert extract_split_claims("I don't know.") == extract_sentences("I don't know.")
    assert extract_split_claims("Marn and Leith") == extract_sentences("Marn and Leith")
    text = "Sure! Here is the answer:\n\n- The mast is **oak**, and it was cut in 1820 [1].\n- It is tall."
    found = extract_split_claims(text).claims
    assert [c.text for c in found] == ["The mast is **oak**", "it was cut in 1820", "It is tall."]


_WORDS = st.lists(
    st.sampled_from(
        ["The mast", "it", "is", "was", "oak", ",", "and", "but", ";", "which", "who", "Odo", "Ines Vale", "the deck",
         ".", " ", "\n", "(", ")", '"', "if", "said", "while", "é", "😀", "[1]", "’", "sold", "carries", "- ", "1820"]
    ),
    max_size=24,
)  # fmt: skip


@given(_WORDS, st.sampled_from([" ", ""]))
def test_offsets_always_map_back_and_no_word_is_lost(words: list[str], joint: str) -> None:
    text = joint.join(words)
    full, found = extract_sentences(text), extract_split_claims(text)
    assert found.refused == full.refused and len(found.claims) >= len(full.claims)
    assert all(text[c.start : c.end] == c.text and c.text.strip() for c in found.claims)
    assert [c.start for c in found.claims] == sorted(c.start for c in found.claims)
    covered = {i for c in found.claims for i in range(c.start, c.end)}
    for claim in full.claims:
        missing = "".join(text[i] for i in range(claim.start, claim.end) if i not in covered)
        # The parts left out only connect claims.
        assert not set(missing.casefold().replace(",", " ").replace(";", " ").split()) - {
            "and",
            "but",
            "while",
            "whereas",
        }


def test_the_same_text_is_cut_the_same_way_and_a_long_one_in_good_time() -> None:
    text = "The mast is oak, and it was cut in 1820. " * 300
    found = extract_split_claims(text).claims
    assert len(found) == 600 and found == extract_split_claims(text).claims
    long = "The mast is oak, and it was cut, and " * 600
    assert all(long[c.start : c.end] == c.text for c in extract_split_claims(long).claims)
