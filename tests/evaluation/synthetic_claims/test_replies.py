"""Rule-based conversation turns: chatty statements of the passage, and small talk that no passage supports."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from data.pairs import PairExample
from evaluation.synthetic_claims.claims import ClaimMix, make_claims
from evaluation.synthetic_claims.small_talk import opener, small_talk, someone
from model.verifier.content_words import share_missing
from tests.evaluation.synthetic_claims.test_synthetic_claims import ARTICLES, TOWNS


@pytest.fixture(scope="module")
def twins() -> list[tuple[PairExample, PairExample]]:
    shares = {name: float(name == "reply") for name in ClaimMix().kinds()}
    made = list(make_claims(ARTICLES, seed=3, per_passage=8, mix=ClaimMix(**shares, twins=1.0)))
    return [(a, b) for a, b in pairwise(made) if a.supported and not b.supported and a.evidence == b.evidence]


def test_what_is_not_marked_wrong_is_what_the_right_one_says(twins: list[tuple[PairExample, PairExample]]) -> None:
    assert len(twins) > 80
    alone = of_others = 0
    for right, wrong in twins:
        assert wrong.wrong is not None
        ((start, end),) = wrong.wrong
        rest = (wrong.claim[:start] + wrong.claim[end:]).strip(" .,!").removesuffix(", and").removesuffix(", but")
        rest = rest.removesuffix(", so").strip(".")
        alone += not rest
        kept = right.claim.strip(".")
        if rest and rest != kept:  # attributed to somebody else: only the subject differs
            of_others += 1
            assert start == 0 and kept.endswith(f" {rest}") and kept.removesuffix(f" {rest}") in TOWNS, (right, wrong)
    assert 0.3 < alone / len(twins) < 0.6
    assert 0 < of_others / len(twins) < 0.2


def test_the_passage_has_the_words_of_the_one_and_not_of_the_other(
    twins: list[tuple[PairExample, PairExample]],
) -> None:
    for right, wrong in twins:
        ((start, end),) = wrong.wrong or ()
        talk = wrong.claim[start:end]
        assert share_missing(right.claim, right.evidence) < 0.5, right
        # "I have been to it" has only stop words, which are not compared.
        assert share_missing(talk, wrong.evidence) > 0 or len(talk.split()) < 8, wrong


def test_every_place_of_a_line_is_filled() -> None:
    expected = [small_talk("Arden", Random(seed), idle=seed % 2 == 0) for seed in range(4000)]
    assert not any("{" in text or "}" in text for text in expected)
    assert len(set(expected)) > 3000  # not a few fixed phrases that could be memorised
    assert any("Arden" in text for text in expected)
    assert all(text[0].isupper() and text[-1] in ".?" for text in expected)
    assert len({opener(Random(seed)) for seed in range(400)}) > 25


def test_braces_of_a_title_are_no_places_to_fill() -> None:
    for title in ("{topic}", "{person} and {quality}", "{0}", "{", "100 %s"):
        assert any(title in small_talk(title, Random(seed), idle=True) for seed in range(60))


def test_nobody_of_a_conversation_may_be_the_passages_subject() -> None:
    assert {someone(Random(seed)).split()[0] for seed in range(200)} == {"I", "We", "My"}


def test_only_idle_talk_asks_back() -> None:
    assert not any("?" in small_talk("Arden", Random(seed), idle=False) for seed in range(1000))
    assert any("?" in small_talk("Arden", Random(seed), idle=True) for seed in range(100))
