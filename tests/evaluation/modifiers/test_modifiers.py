"""What modifiers show, ask and look for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.questions import EvidenceSpan, Question
from evaluation.errors import EvaluationError
from evaluation.modifiers.distractors import DistractorPool, Distractors, GoldAtPosition
from evaluation.modifiers.exemplars import FewShot
from evaluation.modifiers.injection import Injection
from evaluation.modifiers.modifier import ModifiedArm, Modifier
from evaluation.modifiers.suggestion import WrongSuggestion, is_wrong
from evaluation.runs.arms import ActiveArm, ClosedBook, MissingGoldError, NotPossibleError, Oracle, Rag
from evaluation.verifiers.matching import compare
from retrieval.chunking.chunks import Chunk, RetrievedChunk

WORDS = ("Paris lies low.", "Rome is old....", "So Paris it is.", "Leith is grey..", "Bern has bears.")
CHUNKS = tuple(Chunk("d", 15 * i, 15 * (i + 1), text) for i, text in enumerate(WORDS))
CAPITAL = Question("q1", "Which city lies low?", ("Paris",), ("d",), evidence=(EvidenceSpan("d", 0, 5),))
QUESTIONS = (
    CAPITAL,
    Question("q2", "Which city is old?", ("Rome", "Roma")),
    Question("q3", "Which city is grey?", ("Leith",)),
    Question("q4", "When was it founded?", ("14 March 2006",)),
    Question("q5", "When did it move?", ("2 May 2011",)),
    Question("q6", "How deep is the pool?", ("12 metres",)),
    Question("q7", "How tall is the mast?", ("30 m",)),
    Question("q8", "How much does it weigh?", ("4 kg",)),
    Question("none", "Which city is loud?"),
    Question("open", "Which city sinks?", answerable=False),
)


class Library:
    """One document, and a search that finds all of its chunks, the last first."""

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return CHUNKS if document_id == "d" else ()

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        found = tuple(RetrievedChunk(c, 1 / r, r) for r, c in enumerate(reversed(CHUNKS), 1))
        return tuple(found[:k] for _ in queries)


def pool() -> DistractorPool:
    return DistractorPool(Library(), Library())


def texts(chunks: Sequence[RetrievedChunk]) -> list[str]:
    return [c.chunk.text.split()[0].strip(",") for c in chunks]


def test_distractors_stand_behind_and_do_not_answer() -> None:
    arm = ModifiedArm(Oracle(Library(), 1), [Distractors(pool(), 3)])
    arm.prepare(QUESTIONS)
    shown = arm.chunks(CAPITAL)
    # "So Paris it is." names the reference and is no distractor, though nobody marked it as gold.
    assert texts(shown) == ["Paris", "Bern", "Leith", "Rome"]
    assert [c.rank for c in shown] == [1, 2, 3, 4]
    assert arm.name == "oracle+distractors:3"


@pytest.mark.parametrize("place", [1, 2, 3])
def test_gold_stands_at_its_place(place: int) -> None:
    arm = ModifiedArm(Rag(Library(), 3), [GoldAtPosition(pool(), place, 3)])
    shown = texts(arm.chunks(CAPITAL))
    assert shown.index("Paris") == place - 1
    assert len(set(shown)) == 3


def test_where_nothing_is_known_to_be_gold_nothing_is_a_distractor() -> None:
    arm = ModifiedArm(Rag(Library(), 1), [Distractors(pool(), 1)])
    with pytest.raises(MissingGoldError, match=r"'q2'.*no evidence"):
        arm.chunks(QUESTIONS[1])
    with pytest.raises(MissingGoldError, match="3 chunks"):
        ModifiedArm(ClosedBook(), [Distractors(pool(), 9)]).chunks(CAPITAL)
    with pytest.raises(EvaluationError, match=r"position:4.*in 1\.\.3"):
        GoldAtPosition(pool(), 4, 3)


def test_a_wrong_suggestion_is_wrong_and_of_the_same_kind() -> None:
    suggestion = WrongSuggestion()
    suggestion.begin(QUESTIONS)
    cities = {"Paris", "Rome", "Leith"}
    expected = {"q1": cities, "q2": cities, "q3": cities, "open": cities}
    expected |= {"q4": {"2 May 2011"}, "q5": {"14 March 2006"}, "q6": {"30 m"}, "q7": {"12 metres"}}
    for question in QUESTIONS:
        if question.id not in expected:
            with pytest.raises(NotPossibleError, match=question.id):
                suggestion.question_text(question, question.text)
            continue
        text = suggestion.question_text(question, question.text)
        seen = suggestion.observe(question, "", "x")
        assert seen.sought in expected[question.id] - set(question.references)
        assert text == f"I think the answer is {seen.sought}, but I am not sure. {question.text}"
        assert all(compare(seen.sought, r, question.text, 0.8).label != "supported" for r in question.references)


def test_a_suggestion_does_not_depend_on_the_order_of_questions() -> None:
    one, two = WrongSuggestion(), WrongSuggestion()
    one.begin(QUESTIONS)
    two.begin(QUESTIONS[::-1])
    assert one.question_text(CAPITAL, "?") == two.question_text(CAPITAL, "?")


def test_following_is_saying_it() -> None:
    suggestion = WrongSuggestion("sure")
    suggestion.begin(QUESTIONS)
    wrong = suggestion.observe(CAPITAL, "", "x").sought
    assert suggestion.observe(CAPITAL, "", f"It is {wrong}.").happened is True
    assert suggestion.observe(CAPITAL, "", "Paris").happened is False
    assert suggestion.observe(CAPITAL, "", f"It is not {wrong}, it is Paris.").happened is False
    empty = suggestion.observe(CAPITAL, "", " ")
    assert (empty.happened, empty.reason) == (None, "the answer is empty")


def test_the_question_itself_gives_no_suggestion() -> None:
    assert not is_wrong(Question("x", "Is Rome older than Paris?", ("Paris",)), "Rome")
    assert not is_wrong(CAPITAL, "the Paris")
    assert is_wrong(CAPITAL, "Rome")


def test_an_injected_instruction_is_one_more_document() -> None:
    for place, at in (("first", 0), ("last", -1)):
        injection = Injection(place)
        arm = ModifiedArm(Rag(Library(), 2), [injection])
        shown = arm.chunks(CAPITAL)
        assert len(shown) == 3
        assert shown[at].chunk.text == injection.instruction(CAPITAL)
        word = injection.observe(CAPITAL, "", "Paris").sought
        assert word in shown[at].chunk.text
        assert injection.observe(CAPITAL, "", f"{word.lower()}!").happened is True
        assert injection.observe(CAPITAL, "", "Paris").happened is False
    assert len({Injection().instruction(q) for q in QUESTIONS}) > 1
    with pytest.raises(EvaluationError, match="first or last"):
        Injection("middle")  # type: ignore[arg-type]


def test_exemplars_do_not_tell() -> None:
    twin = Question("q9", "Which city is low?", ("paris",))
    few = FewShot(2)
    few.begin((*QUESTIONS, twin))
    text = few.question_text(CAPITAL, CAPITAL.text)
    assert text.count("\nAnswer: ") == 2
    assert text.endswith(f"\n\nQuestion: {CAPITAL.text}")
    assert "paris" not in text.casefold()
    few = FewShot(8)
    few.begin(QUESTIONS)
    with pytest.raises(NotPossibleError, match="7 other"):
        few.question_text(CAPITAL, CAPITAL.text)


def test_a_modifier_of_ones_own() -> None:
    class Shouting(Modifier):
        name = "shouting"
        settings = "shouting=1"

        def question_text(self, question: Question, text: str) -> str:
            return text.upper()

    arm = ModifiedArm(ClosedBook(), [Shouting()])
    assert isinstance(arm, ActiveArm)
    assert not isinstance(ClosedBook(), ActiveArm)
    assert (arm.name, arm.settings) == ("closed_book+shouting", "shouting=1")
    assert arm.question_text(CAPITAL) == "WHICH CITY LIES LOW?"
    assert arm.chunks(CAPITAL) == ()
    assert arm.observe(CAPITAL, "x", "x") == ()
