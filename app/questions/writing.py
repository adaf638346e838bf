"""Write candidate questions about single sentences of documents, by rule or by a model."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluation.question_sets.journal import Journal
from evaluation.question_sets.leakage import leaks
from evaluation.question_sets.round_trip import context_of
from generation.generator import Generator
from generation.question_sets.answer_choice import accepted_answers, is_usable_answer, question_kind
from generation.question_sets.by_model import question_in, write_questions
from generation.question_sets.by_rule import candidate_questions
from generation.question_sets.candidate import AnswerLocation, Candidate, SourceText
from generation.question_sets.prose import prose
from generation.question_sets.standalone import is_standalone
from retrieval.chunking.chunks import Chunk

NO_QUESTION: Final = "the model wrote no question"
LEAKS: Final = "it repeats its passage or gives the answer away"
POINTS: Final = "it refers to its document or has an unresolved pronoun"


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """Settings of a model that writes questions.

    per_document: maximum number of questions per document. temperature: sampling temperature; 0 is greedy.
    """

    per_document: int
    temperature: float = 0.0
    seed: int = 0


def by_rule(
    sources: Sequence[SourceText], progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[str, list[Candidate]]]:
    """Yield the ID of each document with all candidates that rules write."""
    for number, source in enumerate(sources, start=1):
        yield source.document_id, list(candidate_questions(source))
        if progress is not None:
            progress(number, len(sources))


def by_model(
    sources: Sequence[SourceText],
    generator: Generator,
    writing: WriterSettings,
    journal: Journal,
    refused: Counter[str],
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[str, list[Candidate]]]:
    """Yield the ID of each document with the candidates that a model writes for answers chosen by rule.

    journal: stores the model's texts, so that an interrupted command resumes. refused: number of refused texts by
    reason, which is updated. Raises the GenerationError of the generator.
    """
    for number, source in enumerate(sources, start=1):
        blanks = _blanks(source, writing)
        unknown = [blank for blank in blanks if journal.get(_key(blank)) is None]
        items = [(context_of(source, blank.places[0]), blank.references[0]) for blank in unknown]
        written = write_questions(generator, items, temperature=writing.temperature, seed=writing.seed)
        for blank, text in zip(unknown, written, strict=True):
            journal.put(_key(blank), text)
        candidates = []
        for blank in blanks:
            text, reason = _checked(str(journal.get(_key(blank))), context_of(source, blank.places[0]).chunk, blank)
            if reason:
                refused[reason] += 1
            else:
                candidates.append(replace(blank, text=text, writer=generator.name))
        yield source.document_id, candidates
        if progress is not None:
            progress(number, len(sources))


def _checked(written: str, shown: Chunk, blank: Candidate) -> tuple[str, str]:
    question = question_in(written)
    if question is None:
        return "", NO_QUESTION
    if leaks(question, shown.text, blank.references[0]):
        return "", LEAKS
    return (question, "") if is_standalone(question) else ("", POINTS)


def _blanks(source: SourceText, writing: WriterSettings) -> list[Candidate]:
    """Return candidates with an answer but without a question, at most one per sentence."""
    rng = random.Random(f"answers:{writing.seed}:{source.document_id}")
    low = source.text.lower()
    found: dict[int, list[Candidate]] = {}
    for paragraph in prose(source.text):
        passage = paragraph.passage
        for number, tokens in enumerate(passage.sentences):
            for span in passage.answers[number]:
                kind = question_kind(span)
                start, end = tokens[span.start].start, tokens[span.end - 1].end
                answer = passage.text[start:end]
                if kind is None or not is_usable_answer(tokens, span, answer, passage.low, low):
                    continue
                first, last = passage.spans[number]
                offset = paragraph.start
                location = AnswerLocation(
                    source.document_id, offset + start, offset + end, offset + first, offset + last, answer
                )
                blank = Candidate("", kind, accepted_answers(answer, span, low), (location,), span.kind)
                found.setdefault(location.sentence_start, []).append(blank)
    sentences = list(found.values())
    rng.shuffle(sentences)
    return [rng.choice(blanks) for blanks in sentences[: writing.per_document]]


def _key(blank: Candidate) -> str:
    location = blank.places[0]
    return f"write {location.document_id} {location.start} {location.end}"
