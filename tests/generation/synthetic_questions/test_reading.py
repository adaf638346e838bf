"""Examples generated from articles, with any seed."""

import random
import re
from collections import Counter

import pytest

from data.reading_examples import ReadingExample
from generation.synthetic_questions.definitions import definition_questions
from generation.synthetic_questions.noise import SYNONYMS, reworded
from generation.synthetic_questions.passages import MAX_WORDS, Passage, passages
from generation.synthetic_questions.reading_examples import (
    ReadingMix,
    SourceArticle,
    generate_reading_examples,
    join_questions,
)
from generation.synthetic_questions.unanswerable import perturbed

LIGHT = SourceArticle(
    "Skerry Light",
    "Skerry Light is a lighthouse in the Sound of Orra. It was built in 1871 by the engineer Ada Thorne, who had "
    "studied mathematics at the University of Graz before she moved to Leith. The tower has 312 steps and a "
    "height of 34 metres. Its lamp burned whale oil until 1902, when the Orra Gas Company laid a pipe across the "
    "sound. Fishermen avoided the reef because strong currents had wrecked eleven ships within a decade.\n"
    "History.\n"
    "The first keeper, Paul Mercer, lived on the rock with four children. He measured the tides by lowering a "
    "marked rope from the gallery. In 1889 a storm destroyed the landing stage, and the Harbour Board of Leith "
    "paid $4,000 for its repair. The board appointed Robert Hale as second keeper in 1890. Hale kept a diary that "
    "describes seals, gulls and passing steamers. About 40% of its pages deal with the weather. The diary was "
    "published by Orra University Press in 1954 and is now shown in the Leith Museum.\n"
    "During the war the light was switched off. German aircraft attacked the island in June 1941 and damaged the "
    "lantern room. The Orra Gas Company repaired the lamp by casting a new bronze ring. After the war, engineers "
    "replaced the gas lamp with electric light because gas had become expensive. The Leith Museum bought the old "
    "lamp for its collection of marine instruments. Robert Hale returned to the rock as a guest and praised the "
    "new beam. The tower was opened to visitors in 1978 and attracts 9,000 people a year.",
)
KEEPER = SourceArticle(
    "Paul Mercer",
    "Paul Mercer (born 3 May 1840 – died 1911) was a Scottish botanist who collected mosses on remote islands. He "
    "was born in Leith and studied medicine, but left the university to keep a lighthouse. Mercer described "
    "nineteen new species in letters to his friend Ada Thorne. His herbarium was founded in 1880 and is located "
    "in Orra Castle. It holds 2,300 sheets of mosses, lichens and ferns from the northern coast.\n"
    "He married the painter Clara Voss in 1866. The couple moved to Norway to study glaciers, and stayed until "
    "the winter of 1869. Voss painted the fjords while Mercer measured the ice by drilling narrow holes. Their "
    "letters were printed in 1923 by a small press in Bergen, which sold 400 copies within two months.",
)
BOTH = (LIGHT, KEEPER)


def made(seed: int = 1, per_article: int = 30, **shares: float) -> list[ReadingExample]:
    return list(generate_reading_examples(BOTH, seed=seed, per_article=per_article, mix=ReadingMix(**shares)))


def whole(part: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part.lower())}(?!\w)", text.lower()) is not None


def test_answers_stand_once_in_the_passage_and_not_in_the_question() -> None:
    examples = [example for seed in range(8) for example in made(seed, unanswerable=0)]
    assert len(examples) > 150
    for example in examples:
        (answer,) = example.answers
        assert example.answerable
        assert example.context.lower().count(answer.lower()) == 1
        assert whole(answer, example.context)
        assert not whole(answer, example.question)
        assert example.question.endswith("?")
        assert example.title in ("Skerry Light", "Paul Mercer")


def test_unanswerable_questions_have_no_answers_and_keep_their_source() -> None:
    # 27 % of about 250 questions, not all of which can be changed. Fewer than 10 % or more than 45 % is not chance
    # (binomial, below one in a million).
    examples = [example for seed in range(8) for example in made(seed)]
    refused = [example for example in examples if not example.answerable]
    assert 0.10 < len(refused) / len(examples) < 0.45
    assert {example.source for example in refused} <= {"wiki_cloze", "wiki_recurring", "wiki_definition"}
    assert not any(example.answers for example in refused)


def test_a_function_of_seed_and_article_alone() -> None:
    alone = list(generate_reading_examples([KEEPER], seed=5, per_article=6))
    after = [
        example for example in generate_reading_examples(BOTH, seed=5, per_article=6) if example.title == "Paul Mercer"
    ]
    assert alone == after
    assert alone != list(generate_reading_examples([KEEPER], seed=6, per_article=6))


def test_every_source_and_many_kinds_of_question() -> None:
    examples = [example for seed in range(8) for example in made(seed, noisy=0)]
    assert {example.source for example in examples} == {"wiki_cloze", "wiki_recurring", "wiki_definition"}
    first = Counter(example.question.split()[0] for example in examples)
    assert {"What", "Who", "When", "How", "Where"} <= set(first)
    assert max(first.values()) < 0.75 * len(examples)


def test_the_mix_turns_sources_off() -> None:
    assert {example.source for example in made(cloze=0, recurring=0)} == {"wiki_definition"}
    assert {example.source for example in made(definition=0, recurring=0)} == {"wiki_cloze"}


def test_recurring_questions_come_from_another_sentence() -> None:
    examples = [e for seed in range(12) for e in made(seed, cloze=0, definition=0, unanswerable=0)]
    assert examples
    for example in examples:
        sentence = next(s for s in re.split(r"(?<=[.])\s", example.context) if example.answers[0] in s)
        answers = set(re.findall(r"\w{4,}", example.question.lower()))
        assert not answers <= set(re.findall(r"\w{4,}", sentence.lower())), "that is the answering sentence itself"


def test_no_article_is_too_short_or_too_strange() -> None:
    strange = [
        SourceArticle("Empty", ""),
        SourceArticle("Short", "One line. Two lines."),
        SourceArticle("Lists", "A, B, C\n" * 200),
        SourceArticle("Brackets", "((((" * 500 + "\n" + "“" * 300 + "a. " * 200),
        SourceArticle("Unspaced", "x" * 5000 + "."),
        SourceArticle("Письмо", "Учёный написал письмо в Москву. " * 40),
        SourceArticle("(A)", "1 2 3 4 5 6 7 8 9 0. % % % $ $. " * 30),
    ]
    for example in generate_reading_examples(strange, seed=0, per_article=4):
        assert example.question


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"unanswerable": 1.5}, r"unanswerable.*1\.5"),
        ({"noisy": -0.1}, r"noisy.*-0\.1"),
        ({"cloze": -1.0}, r"-1\.0"),
        ({"cloze": 0, "recurring": 0, "definition": 0}, r"0, 0, 0"),
    ],
)
def test_shares_out_of_range_are_named(bad: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ReadingMix(**bad)


def test_per_article_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="per_article"):
        list(generate_reading_examples(BOTH, seed=0, per_article=0))


def test_definitions_say_who_when_and_where() -> None:
    answers = {m.question: m.answer for seed in range(30) for m in definition_questions(KEEPER, random.Random(seed))}
    assert answers["When was Paul Mercer born?"] == "3 May 1840"
    assert answers["When did Paul Mercer die?"] == "1911"
    assert answers["What was Paul Mercer's nationality?"] == "Scottish"
    assert answers["Where was Paul Mercer born?"] == "Leith"
    assert answers["Who was Paul Mercer?"] == "Scottish botanist"


def test_passages_are_runs_of_whole_sentences() -> None:
    for seed in range(20):
        for passage in passages(LIGHT, 3, random.Random(seed)):
            assert passage.text.endswith(".") and len(passage.text.split()) <= 2 * MAX_WORDS
            assert passage.text[0].isupper() and passage.spans[0][0] == 0
            assert any(passage.text in text for text in (LIGHT.text, LIGHT.text.replace("History.\n", "")))


def test_a_perturbed_question_differs_in_what_it_asks() -> None:
    passage = Passage("The first bridge was built in 1850 by Ada Thorne.", ((0, 49),))
    other = Passage("Later Clara Voss and Paul Mercer drew maps of it.", ((0, 49),))
    changes = {
        perturbed("Who built the first bridge of Ada Thorne in 1850?", passage, (passage, other), random.Random(seed))
        for seed in range(40)
    }
    assert any(change and "last bridge" in change for change in changes)
    assert any(change and "1850" not in change for change in changes)
    assert any(change and ("Clara Voss" in change or "Paul Mercer" in change) for change in changes)
    assert "Who built the first bridge of Ada Thorne in 1850?" not in changes


def test_synonyms_change_words_and_never_to_themselves() -> None:
    assert all(word != other for word, other in SYNONYMS.items())
    assert (
        reworded("When was the large city founded?", random.Random(0), share=1.0)
        == "When was the big town established?"
    )
    assert reworded("When was it?", random.Random(0), share=1.0) == "When was it?"


QUESTIONS = [
    ReadingExample("Where was Paul Mercer born?", ("Leith",)),
    ReadingExample("Who is Paul Mercer married to?", ("Clara Voss",)),
    ReadingExample("Where did Paul Mercer die?", ("Paris",)),
    ReadingExample("Who was Skerry Light created by?", ("Nobody Known",)),
    ReadingExample("Who founded Mercer?", ("Leith",)),
]


def test_entity_questions_join_paragraphs_that_hold_the_answer_for_the_right_reason() -> None:
    examples = [e for seed in range(10) for e in join_questions(BOTH, QUESTIONS, seed=seed)]
    answered = {(e.question, e.answers) for e in examples if e.answerable}
    assert answered == {
        ("Where was Paul Mercer born?", ("Leith",)),
        ("Who is Paul Mercer married to?", ("Clara Voss",)),
    }
    for example in examples:
        assert example.source == "wiki_distant" and example.title == "Paul Mercer"
        assert not example.answerable or whole(example.answers[0], example.context)


def test_entity_questions_without_an_article_join_nothing() -> None:
    assert list(join_questions([LIGHT], QUESTIONS[:2], seed=0)) == []
