"""Refusals in many languages are distinguished from negative statements about the world."""

from __future__ import annotations

import pytest

from evaluation.claims.extraction import extract_claims
from evaluation.claims.sentences import extract_sentences
from evaluation.declining.clauses import declines_in_other_language
from evaluation.declining.refusals import is_refusal
from tests.evaluation.declining_tables import ELSEWHERE, ELSEWHERE_ANSWERS, ENGLISH, ENGLISH_ANSWERS


@pytest.mark.parametrize("text", [*ENGLISH, *ELSEWHERE])
def test_declines(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", [*ENGLISH_ANSWERS, *ELSEWHERE_ANSWERS])
def test_a_negative_statement_is_an_answer(text: str) -> None:
    assert not is_refusal(text)


def test_a_long_text_in_no_language_is_looked_at_in_linear_time() -> None:
    assert not declines_in_other_language("nicht " * 200_000)


def test_none_declines_where_a_value_is_asked_for() -> None:
    assert is_refusal("None", "How long is the lease?")
    assert not is_refusal("None", "Which of the rooms are heated?")
    assert not is_refusal("none.", "How many stairs are there?")


def test_a_passage_repeated_below_a_refusal_is_no_answer() -> None:
    text = "The documents do not say.\n\n[3] The mill: It burned down in 1820."
    assert extract_claims(text).refused
    assert extract_sentences(text).refused


def test_a_refusal_with_an_answer_behind_it_is_judged_by_the_answer() -> None:
    found = extract_claims("I am not sure. The mill burned down in 1820.")
    assert [c.text for c in found.claims] == ["The mill burned down in 1820."]
    assert not found.refused


def test_a_passage_repeated_below_an_answer_is_no_part_of_it() -> None:
    found = extract_claims("The weavers\n\n[1] The mill: Odo ran it.")
    assert [c.text for c in found.claims] == ["The weavers"]


def test_a_list_behind_a_colon_is_no_repeated_passage() -> None:
    assert "[1] red" in extract_claims("The colours are:\n[1] red\n[2] blue").claims[0].text


@pytest.mark.parametrize(("answer", "declines"), [("Nan", False), ("Na", False), ("nan", True), ("NaN", True)])
def test_a_name_is_no_missing_value(answer: str, declines: bool) -> None:
    assert is_refusal(answer, "Who is the cook?") is declines
