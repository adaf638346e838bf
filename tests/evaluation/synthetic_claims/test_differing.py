"""Wrong words located by a supported neighbour, and long claims split into sentences."""

from __future__ import annotations

from dataclasses import replace

from data.pairs import PairExample
from evaluation.synthetic_claims.edit_location import by_sentence, differing_words

RIGHT = "The ferry leaves Oban at nine and reaches Mull before noon."


def words(claim: str, *neighbours: str) -> list[str]:
    return [claim[start:end] for start, end in differing_words(claim, neighbours)]


def test_the_changed_words_are_marked() -> None:
    assert words("The ferry leaves Oban at ten and reaches Mull before noon.", RIGHT) == ["ten"]
    assert words("The ferry never leaves Oban at nine and reaches Mull after noon.", RIGHT) == ["never", "after"]


def test_the_nearest_neighbour_decides_and_case_does_not() -> None:
    other = "The FERRY leaves Oban at ten and reaches Mull before midnight."
    assert words("The ferry leaves Oban at ten and reaches Mull before noon.", RIGHT, other) in (["ten"], ["noon"])
    assert words("the ferry leaves oban at nine and reaches mull before dusk.", RIGHT, "Nothing alike here.") == [
        "dusk"
    ]


def test_nothing_is_marked_where_the_neighbour_says_nothing() -> None:
    assert words("Whales sing.", RIGHT) == []
    assert words("The ferry leaves Oban at nine and reaches Mull.", RIGHT) == []  # only words missing
    assert words("The ferry leaves Oban at nine and reaches Mull before noon!", RIGHT) == []  # only punctuation
    assert words("...", RIGHT) == words("The ferry leaves.") == []
    assert words("Any of it.", "") == []
    much = "The ferry quits Kiel at six or reaches Fur before noon."
    assert words(much, RIGHT) == []


def pair(claim: str, supported: bool, evidence: str = "log") -> PairExample:
    return PairExample(evidence, claim, supported, source="made")


def test_a_long_claim_becomes_its_sentences_each_with_its_own_label() -> None:
    right = pair(f"{RIGHT} Its captain is Mary Byrne of Tobermory.", True)
    wrong = pair(f"{RIGHT} Its captain is Mary Byrne of Glasgow.", False)
    out = by_sentence([right, wrong])
    assert [(e.claim, e.supported) for e in out] == [
        (RIGHT, True),
        ("Its captain is Mary Byrne of Tobermory.", True),
        ("Its captain is Mary Byrne of Glasgow.", False),
    ]
    assert out[0].wrong is None and out[2].wrong is not None
    assert [out[2].claim[start:end] for start, end in out[2].wrong] == ["Glasgow"]


def test_a_wrong_claim_without_marks_stays_whole() -> None:
    alone = pair("It sank twice. Nobody knows the harbour it was built in.", False)
    assert by_sentence([alone]) == [alone]
    elsewhere = pair(f"{RIGHT} Its captain is Mary Byrne.", True, evidence="another log")
    assert by_sentence([alone, elsewhere])[0] == alone


def test_marks_that_were_given_are_kept_and_asides_left_out() -> None:
    given = pair("No. The boat was painted green in spring.", False)
    given = replace(given, wrong=((23, 30),))
    (sentence,) = by_sentence([given])
    assert sentence.claim == "The boat was painted green in spring." and not sentence.supported
    assert sentence.wrong == ((19, 26),)
    other_question = [pair(RIGHT, True), replace(pair(RIGHT.replace("nine", "ten"), False), question="When?")]
    assert [e.wrong for e in by_sentence(other_question)] == [None, None]
