"""Correct and wrong short answers. Wrong ones occur in the passage or answer another question."""

from __future__ import annotations

from collections import Counter

from data.pairs import PairExample
from data.reading_examples import ReadingExample
from evaluation.synthetic_claims.short_answers import short_answer_claims

CONTEXT = (
    "The lighthouse of Marrow was designed by Ada Thorne and lit in 1871. It stands 34 metres above the sea on Osk "
    "Island. Jonas Brandt kept the lamp for twelve years and wrote a book on storms in 1902."
)
ASKED = (
    ("Who designed the lighthouse of Marrow?", "Ada Thorne"),
    ("When was the lighthouse of Marrow lit?", "1871"),
    ("How high does it stand above the sea?", "34 metres"),
    ("Who kept the lamp for twelve years?", "Jonas Brandt"),
    ("What did Jonas Brandt write in 1902?", "a book on storms"),
)


def made(seed: int = 0, both: float = 0.5, extra: tuple[ReadingExample, ...] = ()) -> list[PairExample]:
    examples = [ReadingExample(question, (answer,), CONTEXT) for question, answer in ASKED]
    return list(short_answer_claims([*examples, *extra], seed=seed, both=both))


def test_right_and_wrong_of_each_question() -> None:
    right_of = dict(ASKED)
    seen = Counter[bool]()
    for seed in range(40):
        for pair in made(seed, both=1.0):
            seen[pair.supported] += 1
            assert pair.evidence == CONTEXT and pair.group == CONTEXT
            if pair.supported:
                assert right_of[pair.question] in pair.claim
            elif pair.question in right_of:
                # A wrong answer shares no content word with the right one.
                assert right_of[pair.question] not in pair.claim
            else:
                assert any(answer.lower() in pair.claim.lower() for answer in right_of.values())
    assert seen[True] == seen[False] == 200


def test_wrong_answers_come_from_the_passage_the_question_and_other_questions() -> None:
    wrong = [pair for seed in range(60) for pair in made(seed, both=1.0) if not pair.supported]
    of_high = {p.claim.strip(".") for p in wrong if p.question == ASKED[2][0]}
    assert {"1871", "Ada Thorne"} & of_high  # answer to another question
    assert any("sea" in claim and "metres" not in claim for claim in of_high)  # words of the question
    assert any(p.question not in dict(ASKED) for p in wrong)  # changed question


def test_one_of_both_or_both_and_the_same_every_time() -> None:
    assert made(3) == made(3)
    assert made(3) != made(4)
    assert len(made(0, both=0.0)) == 5
    shares = [pair.supported for seed in range(60) for pair in made(seed, both=0.0)]
    assert 0.35 < sum(shares) / len(shares) < 0.65  # 300 fair coins: outside with probability below 1e-6


def test_an_unanswerable_question_gives_a_wrong_answer_only() -> None:
    extra = ReadingExample("Who demolished the lighthouse of Marrow?", (), CONTEXT, "", False)
    found = [p for p in made(0, extra=(extra,)) if p.question == extra.question]
    assert [p.supported for p in found] == [False]


def test_what_is_left_out() -> None:
    examples = [
        ReadingExample("Who?", ("Ada Thorne",), ""),
        ReadingExample("What is told?", (" ".join(["word"] * 13),), "word " * 13),
        ReadingExample("Where is it?", ("Elsewhere",), CONTEXT),
        ReadingExample("First:\nwhere is it?", ("Osk Island",), CONTEXT),
        ReadingExample("Where is it?", (), "...", "", False),
    ]
    assert list(short_answer_claims(examples, seed=0)) == []


def test_a_wrong_answer_that_somebody_wrote_down_is_mostly_the_one_taken() -> None:
    noted = ReadingExample("Who lit the lamp?", (), CONTEXT, answerable=False, wrong=("Jonas Brandt.",))
    taken = Counter(
        "Jonas Brandt" in pair.claim
        for seed in range(80)
        for pair in short_answer_claims([noted], seed=seed)
        if not pair.supported and pair.question == noted.question
    )
    assert taken[True] > 50
    assert taken[False] > 5  # the rules give other answers too


def test_a_noted_wrong_answer_that_may_be_right_is_not_taken() -> None:
    noted = ReadingExample(ASKED[0][0], ("Ada Thorne",), CONTEXT, wrong=("Thorne",))
    pairs = [pair for seed in range(20) for pair in short_answer_claims([noted], seed=seed, both=1.0)]
    wrong = [pair.claim for pair in pairs if not pair.supported and pair.question == ASKED[0][0]]
    assert wrong and not any("Thorne" in claim for claim in wrong)
