"""Near misses: what is changed in a question, and what is not."""

from __future__ import annotations

import pytest

from data.reading_examples import ReadingExample
from generation.errors import GenerationError
from generation.synthetic_questions.near_misses import near_misses

LIGHTHOUSE = (
    "The lighthouse on the northern cape was designed by the engineer Marta Ekholm and built by the company Brandt "
    "Works in 1871. It was first lit by the keeper Olaf Dahl, and the lamp that stands there now came from Rotterdam "
    "in 1912. Visitors from the harbour of Lindesund reach it by boat."
)
MILL = (
    "The paper mill beside the river was founded by the merchant Anton Velde and sold to the printer Ida Grunwald in "
    "1804. It was first driven by water, later by an engine that was made in the workshops of Carlsberg Foundry, and "
    "it closed when the railway to Oldehaven was opened."
)


def examples(question: str, answer: str, count: int = 40) -> list[ReadingExample]:
    mine = [ReadingExample(question, (answer,), LIGHTHOUSE, "Lighthouse", source="ours") for _ in range(count)]
    mill = ReadingExample("Who founded the mill?", ("Anton Velde",), MILL, "Mill", source="ours")
    return [*mine, *[mill] * (count // 4)]


def test_every_change_is_refused_about_the_same_passage_and_says_something_else() -> None:
    question = "Who designed the lighthouse that Brandt Works built?"
    made = near_misses(examples(question, "Marta Ekholm"), 1.0, seed=1)
    about = [example for example in made if example.context == LIGHTHOUSE]
    assert len(about) > 20
    assert all(not e.answerable and e.answers == () and (e.title, e.source) == ("Lighthouse", "ours") for e in about)
    assert all(e.question != question for e in about)
    assert len({e.question for e in about}) > 5


def test_a_name_becomes_another_one_in_the_case_of_the_question_but_never_the_answer() -> None:
    made = near_misses(examples("who designed the lighthouse that brandt works built", "Marta Ekholm"), 1.0, seed=2)
    swapped = [e.question for e in made if e.question.startswith("who designed") and "brandt works" not in e.question]
    # The hardest replacements are names of the passage.
    assert any(name in q for q in swapped for name in ("olaf dahl", "rotterdam", "lindesund"))
    assert any(name in q for q in swapped for name in ("ida grunwald", "carlsberg foundry", "oldehaven"))
    assert all(q == q.lower() and "marta ekholm" not in q for q in swapped)


def test_conditions_are_ones_that_the_passage_does_not_have() -> None:
    made = near_misses(examples("What stands on the northern cape?", "The lighthouse"), 1.0, seed=3)
    years = [
        e.question.rstrip("?").split()[-1]
        for e in made
        if e.question.startswith("What stands on the northern cape in 1")
    ]
    assert years and not any(year in LIGHTHOUSE for year in years)
    assert any("cape according to" in e.question or "cape before" in e.question for e in made)


def test_the_share_and_the_seed_say_all() -> None:
    drawn = examples("Who first lit the lamp?", "Olaf Dahl")
    assert near_misses(drawn, 0.0, seed=1) == []
    assert near_misses(drawn, 0.5, seed=1) == near_misses(drawn, 0.5, seed=1)
    assert len(near_misses(drawn, 0.3, seed=1)) < len(near_misses(drawn, 1.0, seed=1))
    with pytest.raises(GenerationError, match=r"1\.5"):
        near_misses(drawn, 1.5, seed=1)


def test_what_has_no_passage_or_no_answer_is_left_alone() -> None:
    bare = [
        ReadingExample("Who first lit the lamp?", ("Olaf Dahl",), "A short one by Olaf Dahl.", "Lamp"),
        ReadingExample("Who painted the lamp?", (), LIGHTHOUSE, "Lamp", answerable=False),
        ReadingExample("Who first lit the lamp?", ("Olaf Dahl",)),
    ]
    assert near_misses(bare, 1.0, seed=1) == []
