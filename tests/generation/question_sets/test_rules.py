"""Rule-based questions: offsets, well-formed text, unanswerable near misses, and paraphrases."""

from __future__ import annotations

import random

import pytest

from generation.question_sets.by_rule import candidate_questions
from generation.question_sets.candidate import Candidate, SourceText
from generation.question_sets.near_miss import NearMisses
from generation.question_sets.paraphrase import paraphrase
from generation.question_sets.standalone import is_standalone, with_title
from generation.question_sets.two_passages import bridge_questions, pair_questions

LIBRARY = SourceText(
    "library.md",
    "The Wexcombe library",
    "# The Wexcombe library\n\n"
    "The Wexcombe library was founded in 1911 by Edith Marlowe. Edith Marlowe wrote seven novels about the coast. "
    "The reading room holds 240 seats. The library lends books for three weeks.\n\n"
    "A fire destroyed the map room in 1956. In 1961, the town built a new map room beside the river. "
    "The Orford Bindery repaired the damaged atlases.\n",
)
BREWERY = SourceText(
    "brewery.md",
    "The Halden brewery",
    "The Halden brewery was founded in 1873 by Jonas Reedmark. The brewery employs 36 people. "
    "Its cellars lie in Halden.\n",
)


def _texts(source: SourceText) -> list[str]:
    return [candidate.text for candidate in candidate_questions(source)]


@pytest.mark.parametrize("source", [LIBRARY, BREWERY])
def test_answers_stand_where_the_offsets_say(source: SourceText) -> None:
    candidates = list(candidate_questions(source))
    assert candidates
    for candidate in candidates:
        (place,) = candidate.places
        assert source.text[place.start : place.end] == place.text == candidate.references[0]
        assert place.sentence_start <= place.start < place.end <= place.sentence_end
        assert candidate.text.endswith("?")
        assert place.text.lower() not in candidate.text.lower()


def test_asks_with_the_word_that_fits_the_answer() -> None:
    texts = _texts(LIBRARY)
    assert "When was the Wexcombe library founded by Edith Marlowe?" in texts
    assert "How many seats does the reading room hold?" in texts
    assert any(text.startswith("When did a fire destroy the map room") for text in texts)


def test_leaves_headings_tables_and_markup_alone() -> None:
    source = SourceText("t", "T", "# Heading of 1911\n\n| year | seats |\n| 1911 | 240 |\n\n- item one of 1911\n")
    assert _texts(source) == []


@pytest.mark.parametrize("text", ["", "\n\n", "。", "Die Bücherei wurde 1911 von der Stadt gegründet und hat Plätze."])
def test_makes_nothing_of_texts_it_cannot_read(text: str) -> None:
    assert _texts(SourceText("x", "", text)) == []


def test_near_misses_are_not_in_the_collection() -> None:
    sources = [LIBRARY, BREWERY]
    misses = NearMisses(sources)
    rng = random.Random(3)
    candidates = [c for source in sources for c in candidate_questions(source)]
    made = [m for c in candidates for _ in range(4) if (m := misses.derive(c, rng)) is not None]
    assert made
    for missed in made:
        assert not missed.answerable
        assert missed.references == ()
        assert missed.text != missed.based_on
        assert missed.text not in {c.text for c in candidates}


def test_a_paraphrase_has_words_that_its_sentence_does_not_have() -> None:
    candidates = list(candidate_questions(LIBRARY))
    question = next(c for c in candidates if c.text.startswith("When did a fire destroy") or "repair" in c.text)
    place = question.places[0]
    other = paraphrase(question, LIBRARY.text[place.sentence_start : place.sentence_end])
    founded = next(c for c in candidates if "founded" in c.text)
    place = founded.places[0]
    made = paraphrase(founded, LIBRARY.text[place.sentence_start : place.sentence_end])
    assert made is not None
    assert "founded" not in made.text
    assert "established" in made.text
    assert made.references == founded.references
    assert other is None or other.kind == "paraphrase"


def test_two_passages_need_the_answer_of_one_to_ask_the_other() -> None:
    text = (
        "Mara Ellison founded the ferry company in 1902.\n\n"
        "Mara Ellison moved to the island of Torsay in 1931 with two sons.\n"
    )
    candidates = list(candidate_questions(SourceText("f", "Ferries", text)))
    joined = list(bridge_questions(candidates))
    assert joined
    for made in joined:
        assert made.kind == "two_passage"
        assert "Mara Ellison" not in made.text
        assert len(made.places) == 2


def test_a_pair_holds_both_answers() -> None:
    first, second, *_ = (c for c in candidate_questions(LIBRARY) if c.kind == "number")
    made = pair_questions(first, second)
    assert made is not None
    assert made.references == (f"{first.references[0]} and {second.references[0]}",)
    assert pair_questions(first, first) is None


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("When was the Halden brewery founded?", True),
        ("What does the passage above say about beer?", False),
        ("When did he found the brewery?", False),
        ("According to the text, who founded it?", False),
        ('According to "The text of Magna Carta", who sealed the charter?', True),
    ],
)
def test_stands_alone(question: str, alone: bool) -> None:
    assert is_standalone(question) is alone


def test_the_title_is_named_where_the_question_names_nothing() -> None:
    assert with_title("How long does the whole procedure take?", "Pump manual") == (
        'According to "Pump manual", how long does the whole procedure take?'
    )
    assert with_title("How long does the whole procedure take?", "notes.md") is None
    assert (with_title("Who is the current Secretary of State?", "Guide") or "").startswith("According to")
    question = "When did Mara Ellison meet Jonas Reedmark?"
    assert with_title(question, "notes.md") == question


def test_an_answerable_candidate_is_not_a_near_miss() -> None:
    assert Candidate("Q?", "one_fact", ("a",), ()).answerable
    assert not Candidate("Q?", "unanswerable", (), ()).answerable
