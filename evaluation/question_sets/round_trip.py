"""Filter questions by a round trip: keep one if a reader finds its answer in the passage, and no other elsewhere.

Alberti et al. 2019, "Synthetic QA Corpora Generation with Roundtrip Consistency", section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.declining.refusals import is_refusal
from evaluation.verifiers.matching import compare
from evaluation.verifiers.reference_verifier import F1_THRESHOLD
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, Generator, generate_many
from generation.question_sets.candidate import AnswerLocation, Candidate, SourceText
from generation.style.restyling import without_citations
from generation.synthetic_questions.recurring import stems
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.search import Search

NOT_FOUND: Final = "the reader does not find the answer in the passage"
CONTRADICTED: Final = "another passage answers differently"
ANSWERED: Final = "another passage may answer it"
_CONTEXT_CHARACTERS: Final = 240  # number of characters of context on either side of the sentence
_COMPETING: Final = 4
_MAX_TOKENS: Final = 32
_PARAMS: Final = SamplingParams(max_tokens=_MAX_TOKENS)


@dataclass(frozen=True, slots=True)
class _ReaderQuestion:
    question: str
    chunk: RetrievedChunk


class RoundTrip:
    """A filter of candidates that uses a reader and a search in the collection."""

    def __init__(self, reader: Generator, search: Search, sources: Mapping[str, SourceText]) -> None:
        """Create the filter. sources: the candidates' documents by ID."""
        self._reader, self._search, self._sources = reader, search, sources

    def refusals(self, candidates: Sequence[Candidate]) -> tuple[str, ...]:
        """Return the reason for rejection of each candidate; "" for a candidate that is kept."""
        found = self._search.retrieve_many([c.text for c in candidates], _COMPETING)
        competing = [self._competing(c, chunks) for c, chunks in zip(candidates, found, strict=True)]
        expected = [self._expected(candidate) for candidate in candidates]
        tasks = [ask for tasks_of_one in expected for ask in tasks_of_one]
        tasks += [
            _ReaderQuestion(c.text, chunk) for c, chunks in zip(candidates, competing, strict=True) for chunk in chunks
        ]
        answers = iter(self._answers(tasks))
        own_answers = [[next(answers) for _ in tasks_of_one] for tasks_of_one in expected]
        competing_answers = [[next(answers) for _ in chunks] for chunks in competing]
        return tuple(
            _refusal(candidate, own, others)
            for candidate, own, others in zip(candidates, own_answers, competing_answers, strict=True)
        )

    def _answers(self, tasks: Sequence[_ReaderQuestion]) -> list[str]:
        prompts = [self._reader.prompt(task.question, (task.chunk,), _MAX_TOKENS) for task in tasks]
        drawn = generate_many(self._reader, [GenerationTask(prompt, _PARAMS, (0,)) for prompt in prompts])
        texts = [without_citations(completions[0]).strip() for completions in drawn]
        return [
            "" if not text or is_refusal(text, task.question) else text for text, task in zip(texts, tasks, strict=True)
        ]

    def _expected(self, candidate: Candidate) -> list[_ReaderQuestion]:
        """Return what the reader must answer: the question with its passage, or each part with its own passage.

        The result is empty for an unanswerable question.
        """
        if not candidate.answerable:
            return []
        parts = candidate.parts or (candidate,)
        return [_ReaderQuestion(part.text, self._context(part.places[0])) for part in parts]

    def _context(self, span: AnswerLocation) -> RetrievedChunk:
        return context_of(self._sources[span.document_id], span)

    def _competing(self, candidate: Candidate, found: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
        """Return the retrieved chunks that contain all words of the question, except chunks with its sentence."""
        if candidate.parts:
            return []
        here = candidate.places[0]
        question_stems = stems(candidate.text)
        return [
            chunk
            for chunk in found
            if question_stems <= stems(f"{chunk.chunk.title} {chunk.chunk.text}")
            and (not candidate.answerable or not _holds(chunk.chunk, here))
        ]


def context_of(source: SourceText, span: AnswerLocation) -> RetrievedChunk:
    """Return the sentence of a span with its context in the same paragraph, as a chunk."""
    start = max(source.text.rfind("\n", 0, span.sentence_start) + 1, span.sentence_start - _CONTEXT_CHARACTERS)
    line_end = source.text.find("\n", span.sentence_end)
    line_end = len(source.text) if line_end < 0 else line_end
    end = min(line_end, span.sentence_end + _CONTEXT_CHARACTERS)
    return RetrievedChunk(Chunk(source.document_id, start, end, source.text[start:end], source.title), 1.0, 1)


def _refusal(candidate: Candidate, own_answers: Sequence[str], other_answers: Sequence[str]) -> str:
    if not candidate.answerable:
        return ANSWERED if any(other_answers) else ""
    for part, answer in zip(candidate.parts or (candidate,), own_answers, strict=True):
        if not answer or not _agrees(part, answer):
            return NOT_FOUND
    return CONTRADICTED if any(answer and not _agrees(candidate, answer) for answer in other_answers) else ""


def _agrees(candidate: Candidate, answer: str) -> bool:
    return any(
        compare(answer, reference, candidate.text, F1_THRESHOLD).label == "supported"
        or compare(reference, answer, candidate.text, F1_THRESHOLD).label == "supported"
        for reference in candidate.references
    )


def _holds(chunk: Chunk, span: AnswerLocation) -> bool:
    return chunk.document_id == span.document_id and chunk.start < span.sentence_end and span.sentence_start < chunk.end
