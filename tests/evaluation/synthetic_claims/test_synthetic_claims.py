"""Rule-based claims: the same text gives the same claims; half are wrong, with the wrong words marked."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from data.pairs import PairExample
from evaluation.errors import EvaluationError
from evaluation.synthetic_claims.answers import synthetic_question
from evaluation.synthetic_claims.claims import ClaimMix, SourceText, make_claims
from evaluation.synthetic_claims.edits import replaced
from evaluation.synthetic_claims.entities import mentions
from evaluation.synthetic_claims.facts import claim_of_facts
from evaluation.synthetic_claims.negation import negate, remove_negation
from evaluation.synthetic_claims.numbers import change_number
from evaluation.synthetic_claims.rendering import render_record
from evaluation.synthetic_claims.restyling import active
from evaluation.synthetic_claims.shortening import leading_moved
from evaluation.synthetic_claims.structured_claims import structured_pair
from evaluation.synthetic_claims.tables import product
from evaluation.synthetic_claims.trailing_phrases import tail_of
from evaluation.synthetic_claims.word_swaps import swap_word

TOWNS = ("Arden", "Calder", "Dunmore", "Harlow", "Kingsley", "Larkspur", "Norwell", "Thornbury", "Westlake", "Yarrow")
PEOPLE = ("Ada Moreau", "Jonas Brandt", "Edith Novak", "Hugo Rossi", "Vera Kessler", "Omar Sandoval", "Rosa Ekberg")


def article(index: int) -> SourceText:
    chance = Random(index)
    town, other, third = chance.sample(TOWNS, 3)
    one, two, three = chance.sample(PEOPLE, 3)
    year = chance.randrange(1700, 1900)
    school, sided = chance.choice(("opened", "closed")), chance.choice(("supported", "opposed"))
    text = (
        f"{town} is a small market town in {other} that grew along the northern bank of the river. "
        f"It was founded in {year} by {one}, a merchant who had come from {third} with seven ships. "
        f"The first bridge was built in {year + 31} and carried the old road to {other}. "
        f"{two} {school} a large school in {town} in {year + 60}, which taught two hundred children every winter. "
        f"In {year + 75}, {three} {sided} {two} in the election and became mayor of the town. "
        f"The mill at {third} was not repaired after the great fire of {year + 90}. "
        f"About {chance.randrange(20, 80)} percent of the houses were destroyed, and most families left in the spring. "
        f"Trade increased again after 12 March {year + 95}, when the railway from {other} reached the harbour. "
        f"The town hall was designed by {one} and contains four paintings of the harbour. "
        f"It exports timber and wool because of its long coast. "
    )
    return SourceText(f"{town}", text, f"town{index}")


ARTICLES = tuple(article(i) for i in range(30))
TEXT_KINDS = [kind for kind in ClaimMix().kinds() if kind != "structured"]


def only(kind: str, twins: float = 1.0) -> ClaimMix:
    return ClaimMix(**{name: float(name == kind) for name in ClaimMix().kinds()}, twins=twins)


@pytest.fixture(scope="module")
def pairs() -> list[PairExample]:
    return list(make_claims(ARTICLES, seed=1, per_passage=12))


def test_the_claims_of_a_passage_do_not_depend_on_the_order() -> None:
    forward = list(make_claims(ARTICLES[:12], seed=4, per_passage=6))
    backward = list(make_claims(ARTICLES[11::-1], seed=4, per_passage=6))
    assert sorted(map(repr, forward)) == sorted(map(repr, backward))
    assert forward != list(make_claims(ARTICLES[:12], seed=5, per_passage=6))


def test_every_kind_is_made_and_about_half_of_each_is_supported(pairs: list[PairExample]) -> None:
    made = Counter(pair.source for pair in pairs)
    right = Counter(pair.source for pair in pairs if pair.supported)
    assert set(made) == {f"made_{kind}" for kind, share in ClaimMix().kinds().items() if share}
    for source, count in made.items():
        # Six standard deviations of a fair coin: a false alarm in about one of 40 million seeds for all kinds together.
        assert abs(right[source] - count / 2) <= 3 * count**0.5 + 1, source


def test_wrong_words_are_marked_where_they_are_known(pairs: list[PairExample]) -> None:
    for pair in pairs:
        if pair.supported or pair.source == "made_neighbour":
            assert pair.wrong is None
        elif pair.source != "made_removed":
            assert pair.wrong


@pytest.mark.parametrize("kind", ["entity", "number", "word", "relation", "role", "crossed"])
def test_twins_differ_in_the_marked_words_only(kind: str) -> None:
    mix = ClaimMix(**{name: float(name == kind) for name in ClaimMix().kinds()}, twins=1.0, merged=0.0)
    found = list(make_claims(ARTICLES, seed=2, per_passage=6, mix=mix))
    assert len(found) > 8
    twins = 0
    for right, wrong in pairwise(found):
        if right.supported and not wrong.supported and right.evidence == wrong.evidence and wrong.wrong:
            rest, at = [], 0
            for start, end in wrong.wrong:
                rest.append(wrong.claim[at:start])
                at = end
            rest.append(wrong.claim[at:])
            # Lead-ins, and "a" before a vowel, may differ, so the test compares the middle parts.
            twins += all(part.strip(" an")[-15:].lower() in right.claim.lower() for part in rest)
    assert twins > len(found) / 4


def test_a_claim_of_another_place_is_not_in_its_evidence() -> None:
    wrong = [pair for pair in make_claims(ARTICLES, seed=3, per_passage=6, mix=only("neighbour")) if not pair.supported]
    assert wrong and all(pair.claim not in pair.evidence for pair in wrong)


def test_answers_come_with_their_question() -> None:
    found = list(make_claims(ARTICLES, seed=3, per_passage=8, mix=only("answer")))
    assert found and all(pair.question.endswith("?") and len(pair.claim.split()) < 8 for pair in found)


def test_texts_without_sentences_make_nothing() -> None:
    empty = [SourceText("x", text, "x") for text in ("", "One line", "(((" * 50, "\x00\ud800 a. b. c. " * 9)]
    assert list(make_claims(empty, seed=1, mix=only("entity"))) == []


@pytest.mark.parametrize("mix", [{"entity": -1.0}, {"merged": 2.0}, dict.fromkeys(ClaimMix().kinds(), 0.0)])
def test_a_bad_mix_is_refused(mix: dict[str, float]) -> None:
    with pytest.raises(EvaluationError):
        ClaimMix(**mix)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The mill was built by monks.", "The mill was not built by monks."),
        ("She wrote three plays for the court.", "She did not write three plays for the court."),
        ("The city has been rebuilt since.", "The city has not been rebuilt since."),
        ("The novel published in 1990 was a success.", None),
        ("Some mills were built by monks.", None),
        ("The king who was ill stayed there.", None),
    ],
)
def test_denials(text: str, expected: str | None) -> None:
    found = negate(text)
    assert (found.text if found else None) == expected


def test_denials_are_taken_away() -> None:
    found = remove_negation("The mill didn't win the prize.")
    assert found is not None and found.text == "The mill won the prize."
    assert found.text[found.start : found.end] == "won"
    assert remove_negation("He was not only a miller.") is None


def test_numbers_change_into_others_of_the_same_look() -> None:
    for seed in range(200):
        changed = change_number("It was built in 1834 for 1,250 people.", Random(seed))
        assert changed is not None
        start, end = changed.wrong[0]
        new = changed.text[start:end]
        assert new not in ("1834", "1,250")
        assert (len(new) == 4 and new.isdigit()) or "," in new or int(new) < 1000
    assert change_number("Boeing 747 flew.", Random(1)) is None


def test_an_article_agrees_with_the_word_put_in() -> None:
    edited = replaced("It is a large town.", 8, 13, "old")
    assert edited.text == "It is an old town."
    assert edited.text[slice(*edited.wrong[0])] == "old"


def test_a_word_is_swapped_as_often_there_as_back() -> None:
    counts = {"largest": 900, "smallest": 100}
    texts = ["The largest house stood there."] * 900 + ["The smallest house stood there."] * 100
    swapped = [swap_word(text, Random(i), "word", counts) for i, text in enumerate(texts)]
    to_small = sum(edit is not None and "smallest" in edit.text for edit in swapped)
    to_large = sum(edit is not None and "largest" in edit.text for edit in swapped)
    # Both are binomial with mean 100; five standard deviations: a false alarm in fewer than one of 10^6 changes.
    assert to_large == 100 and abs(to_small - 100) < 50


def test_questions_and_answers_fit() -> None:
    question = synthetic_question("Ada Moreau founded the school in 1834.", Random(1))
    assert question is not None
    assert (question.question, question.answer) in [
        ("When did Ada Moreau found the school?", "1834"),
        ("In what year did Ada Moreau found the school?", "1834"),
        ("Who founded the school in 1834?", "Ada Moreau"),
    ]
    assert synthetic_question("It was built there.", Random(1)) is None


def test_turns_of_sentences_keep_what_they_say() -> None:
    assert leading_moved("In 1834, the mill burned down.", Random(1)) == "The mill burned down in 1834."
    assert active("The school was founded by Ada Moreau in 1834.") == "Ada Moreau founded the school in 1834."
    assert [m.name for m in mentions("In Arden, Ada Moreau met the King of Calder on Monday.")] == [
        "Arden",
        "Ada Moreau",
        "King of Calder",
    ]
    tail = tail_of("The mill was sold to the miller in 1834.")
    assert tail is not None and (tail.words, tail.kind) == (" in 1834", "in year")


def test_records_are_shown_with_what_is_claimed_of_them() -> None:
    for seed in range(60):
        record = product(Random(seed))
        claim = claim_of_facts(record.facts, True, Random(seed))
        assert claim is not None and not claim.wrong
        assert record.name in render_record(record, Random(seed))
        wrong = claim_of_facts(record.facts, False, Random(seed))
        assert wrong is not None and wrong.wrong
    found = [pair for seed in range(300) if (pair := structured_pair(Random(seed)))]
    assert len({pair.evidence for pair in found}) > 290
    # Five standard deviations of a fair coin: a false alarm in fewer than one of 10^6 changes.
    assert abs(sum(pair.supported for pair in found) - len(found) / 2) < 44
