"""Generation of correct and wrong short answers to questions on a passage, as claims.

A verifier that never saw a wrong answer from the passage itself learns that every short answer found there is
supported. The wrong answers are therefore those that a reader model would give: the answer to another question on the
passage, another of its names, numbers or phrases, words of the question, and the correct answer to a question that was
changed so that the passage no longer answers it. If the data contain a wrong answer written by a person, it is used
most often.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from data.pairs import PairExample
from data.reading_examples import ReadingExample
from evaluation.synthetic_claims.seeded_random import seeded_random
from generation.english.tokens import read_sentence
from generation.style.answer_style import as_sentence
from generation.synthetic_questions.candidates import answer_spans
from generation.synthetic_questions.passages import Passage
from generation.synthetic_questions.unanswerable import perturbed
from model.english import word_set
from retrieval.chunking.sentences import sentence_spans

_MAX_ANSWER = 12  # words
_NOTED_SHARE = 0.7
"""Probability of using a wrong answer written by a person, if there is one. Rules cover fewer kinds of errors."""
_NEAR = 1400  # characters of a context that are searched for other answers
_FIGURES = frozenset({"date", "number", "measure"})
_NAMES = frozenset({"person", "place", "group", "name"})
_WORD = re.compile(r"\w+")
_SMALL = word_set("a an the of in on at to by for and or is was were are it he she they that this with as from")


@dataclass(frozen=True, slots=True)
class _Spans:
    """Answer candidates of a passage. found: (text, kind) of each."""

    passage: Passage
    found: tuple[tuple[str, str], ...]


def short_answer_claims(examples: Sequence[ReadingExample], *, seed: int, both: float = 0.5) -> Iterator[PairExample]:
    """Yield a correct or a wrong answer to each question as a claim with the question.

    both: probability of yielding both. An unanswerable question gives only a wrong answer, if its passage contains a
    candidate. Examples without a context, with a long answer, or with an answer that is not in the context are skipped.
    The result depends only on the seed, the example and the other questions on the same context.
    """
    by_context: dict[str, list[ReadingExample]] = defaultdict(list)
    for example in examples:
        by_context[example.context].append(example)
    cut: dict[str, _Spans] = {}
    for example in examples:
        chance = seeded_random(seed, "short answers", example.context, example.question)
        if not example.context.strip() or "\n" in example.question.strip():
            continue
        if example.context not in cut:
            if len(cut) > 64:
                cut.clear()
            cut[example.context] = _spans(example.context)
        if not example.answerable:
            yield from _wrong(example, by_context, cut, chance)
            continue
        answer = example.answers[0].strip(" .")
        if not answer or len(answer.split()) > _MAX_ANSWER or answer.lower() not in example.context.lower():
            continue
        right = [_pair(example, example.question, answer, True, chance)]
        wrong = list(_wrong(example, by_context, cut, chance))
        if wrong and chance.random() < both:
            yield from right + wrong
        else:
            yield from right if not wrong or chance.random() < 0.5 else wrong


def _wrong(
    example: ReadingExample,
    by_context: Mapping[str, Sequence[ReadingExample]],
    cut: Mapping[str, _Spans],
    chance: Random,
) -> Iterator[PairExample]:
    spans = cut[example.context]
    ways = [_other_answer, _other_span, _other_span, _question_words, _changed_question]
    chance.shuffle(ways)
    # Drawn only if there are candidates, so that the random sequence of other examples is unchanged.
    if example.wrong and chance.random() < _NOTED_SHARE:
        ways.insert(0, _noted_answer)
    for way in ways:
        wrong = way(example, by_context[example.context], spans, chance)
        if wrong is not None:
            question, answer = wrong
            yield _pair(example, question, answer, False, chance)
            return


def _noted_answer(
    example: ReadingExample, others: Sequence[ReadingExample], spans: _Spans, chance: Random
) -> tuple[str, str] | None:
    """Return a wrong answer that the author of the question noted."""
    found = [text.strip(" .") for text in example.wrong]
    kept = [text for text in found if text and len(text.split()) <= _MAX_ANSWER and not _similar(text, example)]
    return (example.question, chance.choice(kept)) if kept else None


def _other_answer(
    example: ReadingExample, others: Sequence[ReadingExample], spans: _Spans, chance: Random
) -> tuple[str, str] | None:
    """Return the answer to another question on the same passage, of the same form if possible."""
    found = [
        answer
        for other in others
        if other.answerable
        for answer in [other.answers[0].strip(" .")]
        if answer and len(answer.split()) <= _MAX_ANSWER and not _similar(answer, example)
    ]
    same_form = [a for a in found if example.answerable and _has_digit(a) == _has_digit(example.answers[0])]
    return (example.question, chance.choice(same_form or found)) if found else None


def _other_span(
    example: ReadingExample, others: Sequence[ReadingExample], spans: _Spans, chance: Random
) -> tuple[str, str] | None:
    """Return another candidate of the passage, of the kind that the question asks for if known."""
    found = [(text, kind) for text, kind in spans.found if not _similar(text, example)]
    if not found:
        return None
    kinds = _expected_pattern(example)
    fitting = [text for text, kind in found if kinds and kind in kinds]
    pool = fitting if fitting and chance.random() < 0.75 else [text for text, _ in found]
    return example.question, chance.choice(pool)


def _question_words(
    example: ReadingExample, others: Sequence[ReadingExample], spans: _Spans, chance: Random
) -> tuple[str, str] | None:
    """Return words of the question that occur in the passage. They do not answer the question."""
    words = example.question.rstrip("?").split()
    runs = [words[i : i + n] for n in (1, 2, 3) for i in range(1, len(words) - n + 1)]
    low = example.context.lower()
    kept = [
        text
        for run in runs
        if run[0].lower() not in _SMALL and run[-1].lower() not in _SMALL
        for text in [" ".join(run).strip(",'\"")]
        if len(text) > 3 and text.lower() in low and not _similar(text, example)
    ]
    return (example.question, chance.choice(kept)) if kept else None


def _changed_question(
    example: ReadingExample, others: Sequence[ReadingExample], spans: _Spans, chance: Random
) -> tuple[str, str] | None:
    """Return the correct answer to a question in which a name, number or word is changed."""
    if not example.answerable or not spans.passage.spans:
        return None
    # Names that differ only in case are not a change.
    changed = perturbed(example.question, spans.passage, [spans.passage], chance)
    if changed is None or changed.lower() == example.question.lower():
        return None
    return changed, example.answers[0].strip(" .")


def _pair(example: ReadingExample, question: str, answer: str, supported: bool, chance: Random) -> PairExample:
    claim = answer
    style = chance.random()
    if style < 0.25:
        claim = as_sentence(question, answer)
    elif style < 0.4:
        claim = f"{answer}."
    elif style < 0.5:
        claim = f"{chance.choice(('It was', 'The answer is', 'It is'))} {answer}."
    return PairExample(
        evidence=example.context,
        claim=claim,
        supported=supported,
        question=question,
        source="made_short_answer",
        group=example.context,
    )


def _spans(context: str) -> _Spans:
    text = context[:_NEAR]
    spans = tuple((span.start, span.end) for span in sentence_spans(text))
    found: list[tuple[str, str]] = []
    for start, end in spans:
        tokens = read_sentence(text, start, end)
        for span in answer_spans(tokens):
            value = text[tokens[span.start].start : tokens[span.end - 1].end]
            if 0 < len(value.split()) <= _MAX_ANSWER and span.kind != "listed":
                found.append((value, span.kind))
    return _Spans(Passage(text, spans), tuple(dict.fromkeys(found)))


def _expected_pattern(example: ReadingExample) -> frozenset[str]:
    low = example.question.lower()
    if re.search(r"\b(?:when|year|date|how (?:many|much|long|old|far|tall|high|deep|big|large|often))\b", low):
        return _FIGURES
    if re.search(r"\b(?:who|whom|whose|where)\b", low):
        return _NAMES
    return frozenset()


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _similar(text: str, example: ReadingExample) -> bool:
    """Return whether a text may be correct too: it shares a content word with a correct answer, or has none."""
    words = {w for w in _WORD.findall(text.lower()) if w not in _SMALL}
    if not words:
        return True
    return any(words & set(_WORD.findall(answer.lower())) for answer in example.answers)
