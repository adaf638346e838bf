"""Questions generated from a sentence and an answer in it."""

import random

import pytest

from generation.english.tokens import Token, read_sentence
from generation.english.verbs import base_of_past, base_of_third
from generation.synthetic_questions.asking import question_for_answer
from generation.synthetic_questions.candidates import answer_spans
from generation.synthetic_questions.clauses import clause_of
from generation.synthetic_questions.spans import KINDS, AnswerSpan


def read(sentence: str) -> tuple[Token, ...]:
    return read_sentence(sentence, 0, len(sentence))


def spans(sentence: str, kind: str = "") -> dict[str, AnswerSpan]:
    """Return the spans of a sentence by their text, of one kind or all kinds."""
    tokens = read(sentence)
    return {
        sentence[tokens[s.start].start : tokens[s.end - 1].end]: s
        for s in answer_spans(tokens)
        if not kind or s.kind == kind
    }


def questions(sentence: str, answer: str) -> set[str]:
    """Return every wording that thirty seeds give for ``answer``."""
    tokens = read(sentence)
    span = spans(sentence)[answer]
    clause = clause_of(tokens, span)
    assert clause is not None
    subject = tokens[clause.subject[0] : clause.subject[1]]
    made = {question_for_answer(tokens, clause, span, subject, random.Random(seed)) for seed in range(30)}
    return {question for question in made if question}


@pytest.mark.parametrize(
    ("sentence", "answer", "question"),
    [
        (
            "Ada Thorne founded the Skerry Light Company in 1871.",
            "1871",
            "When did Ada Thorne found the Skerry Light Company?",
        ),
        (
            "Ada Thorne founded the Skerry Light Company in 1871.",
            "1871",
            "In what year did Ada Thorne found the Skerry Light Company?",
        ),
        (
            "The lighthouse was painted by Paul Mercer in 1902.",
            "Paul Mercer",
            "Who was the lighthouse painted by in 1902?",
        ),
        (
            "The lighthouse was painted by Paul Mercer in 1902.",
            "1902",
            "When was the lighthouse painted by Paul Mercer?",
        ),
        ("In 1902, the company sold the old bridge.", "1902", "When did the company sell the old bridge?"),
        ("The tower has 312 steps.", "312", "How many steps does the tower have?"),
        (
            "The company employs about 400 people in two towns.",
            "400",
            "How many people does the company employ in two towns?",
        ),
        ("Robert Hale wrote the first guide to the island.", "Robert Hale", "Who wrote the first guide to the island?"),
        (
            "The fleet sailed from Lisbon to the island in May 1498.",
            "May 1498",
            "When did the fleet sail from Lisbon to the island?",
        ),
        (
            "The museum lies in Portugal near the old harbour.",
            "Portugal",
            "Where does the museum lie near the old harbour?",
        ),
        (
            "The walls were built because pirates burned the harbour.",
            "pirates burned the harbour",
            "Why were the walls built?",
        ),
        ("Miners use canaries to detect gas.", "to detect gas", "Why do miners use canaries?"),
        (
            "Potters strengthen the clay by adding crushed shells.",
            "adding crushed shells",
            "How do potters strengthen the clay?",
        ),
        (
            "The festival attracted 45% of the visitors.",
            "45%",
            "What percentage of the visitors did the festival attract?",
        ),
        (
            "He studied at the University of Graz before the war.",
            "University of Graz",
            "At what university did he study before the war?",
        ),
    ],
)
def test_clauses_become_questions(sentence: str, answer: str, question: str) -> None:
    assert question in questions(sentence, answer)


def test_a_second_verb_shares_its_subject() -> None:
    made = questions("Ada Thorne was born in Leith and moved to Oslo in 1880.", "1880")
    assert made and all("Ada Thorne" in question and "born" not in question for question in made)


def test_a_relative_clause_asks_about_its_antecedent() -> None:
    made = questions("The bridge was designed by Ada Thorne, who studied physics in Graz.", "physics")
    assert made == {"What did Ada Thorne study in Graz?"}


def test_the_participle_after_a_noun_is_not_the_verb() -> None:
    made = questions("A book written by Paul Mercer described the island in 1790.", "1790")
    assert all(" a book written by Paul Mercer describe the island" in question for question in made)


@pytest.mark.parametrize(
    ("sentence", "kind", "answer"),
    [
        ("It opened on 12 May 1931 in Leith.", "date", "12 May 1931"),
        ("The temple dates from the 5th century BC.", "date", "5th century BC"),
        ("The span is 320 metres long.", "number", ""),
        ("It cost $40 million to build.", "measure", "$40 million"),
        ("The island has seven villages.", "number", "seven"),
        ("The poet admired Ludwig van Berg.", "person", "Ludwig van Berg"),
        ("She joined the Bank of Leith.", "group", "Bank of Leith"),
        ("The alloy contains copper, tin and lead.", "listed", "copper, tin and lead"),
        ("The treaty ended the long war over the salt mines.", "phrase", "treaty"),
        ("Farmers grow tropical fruit on the coast.", "adjective", "tropical"),
    ],
)
def test_answers_are_whole_phrases(sentence: str, kind: str, answer: str) -> None:
    found = spans(sentence, kind)
    assert answer in found if answer else not found


def test_names_are_not_cut() -> None:
    sentence = "Professor Ada J. Thorne of the Royal Society met King Olaf II in the Bank of Leith."
    for answer in spans(sentence):
        assert answer not in {"Ada", "Thorne", "Royal", "Olaf", "Bank", "Leith", "King"}
    assert "King Olaf II" in spans(sentence)


def test_kinds_are_the_named_ones_and_spans_lie_inside() -> None:
    tokens = read("In 1901 the Dutch painter Jan Vos sold 12 works to the Oslo Museum because he needed money.")
    for span in answer_spans(tokens):
        assert span.kind in KINDS
        assert 0 <= span.left <= span.start < span.end <= span.right <= len(tokens)


def test_brackets_and_quotation_marks_are_left_out_but_offsets_stay() -> None:
    sentence = 'The ship "Aurora" (built 1860) sank.'
    tokens = read(sentence)
    assert [token.text for token in tokens] == ["The", "ship", "Aurora", "sank", "."]
    assert all(sentence[token.start : token.end] == token.text for token in tokens)


@pytest.mark.parametrize(
    ("past", "base"),
    [("founded", "found"), ("wrote", "write"), ("planned", "plan"), ("carried", "carry"), ("centralised", "centralise"),
     ("toured", "tour"), ("honoured", "honour"), ("lighthouse", None), ("need", None), ("red", None)],
)  # fmt: skip
def test_base_of_past(past: str, base: str | None) -> None:
    assert base_of_past(past) == base


def test_base_of_third_leaves_nouns_alone() -> None:
    assert base_of_third("contains") == "contain"
    assert base_of_third("flies") == "fly"
    assert base_of_third("forms") is None
