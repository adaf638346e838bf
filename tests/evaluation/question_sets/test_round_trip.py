"""Round-trip consistency: what a reader finds, does not find, and finds elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import pytest

from evaluation.question_sets.round_trip import ANSWERED, CONTRADICTED, NOT_FOUND, RoundTrip, context_of
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from generation.question_sets.candidate import AnswerLocation, Candidate, SourceText
from retrieval.chunking.chunks import Chunk, RetrievedChunk

SOURCE = SourceText("a", "Harbour", "The harbour opened in 1911.\nIt has boats. The harbour wall fell in 1956. More.")
OTHER = SourceText("b", "Other", "When the harbour opened in 1920, it rained.")


class YearReader:
    """Answers with the first year of its first chunk, and declines where there is none."""

    name, fingerprint, context_length = "years", "3" * 64, 512

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        return Prompt(question, tuple(PromptChunk(1, c, 0, len(c.chunk.text)) for c in chunks), (), (1,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        found = re.search(r"\d{4}", prompt.chunks[0].text)
        text = f"{found.group()} [1]" if found else "The documents do not answer this."
        return (Completion(text, (), (), "stop", Usage(1, 1), seeds[0]),)


class Finds:
    """A search that always finds these chunks."""

    def __init__(self, *sources: SourceText) -> None:
        self.chunks = tuple(
            RetrievedChunk(Chunk(s.document_id, 0, len(s.text), s.text, s.title), 1.0, n)
            for n, s in enumerate(sources, start=1)
        )

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        return tuple(self.chunks for _ in queries)


def _candidate(text: str, answer: str, kind: Any = "one_fact") -> Candidate:
    start = SOURCE.text.index(answer)
    sentence = SOURCE.text.rindex("The", 0, start)
    place = AnswerLocation("a", start, start + len(answer), sentence, SOURCE.text.index(".", start) + 1, answer)
    return Candidate(text, kind, () if kind == "unanswerable" else (answer,), (place,))


def _refusal(candidate: Candidate, *sources: SourceText) -> str:
    check = RoundTrip(YearReader(), cast("Any", Finds(*sources)), {"a": SOURCE, "b": OTHER})
    return check.refusals([candidate])[0]


def test_a_consistent_question_is_kept() -> None:
    assert _refusal(_candidate("When was the harbour opened?", "1911"), SOURCE) == ""


def test_an_answer_that_is_not_found_is_refused() -> None:
    assert _refusal(_candidate("What has the harbour?", "boats"), SOURCE) == NOT_FOUND


def test_another_answer_elsewhere_is_refused() -> None:
    assert _refusal(_candidate("When was the harbour opened?", "1911"), SOURCE, OTHER) == CONTRADICTED


def test_a_passage_without_the_questions_words_contradicts_nothing() -> None:
    assert _refusal(_candidate("When was the harbour wall opened?", "1911"), OTHER) == ""


@pytest.mark.parametrize(("sources", "reason"), [((), ""), ((OTHER,), ANSWERED)])
def test_a_near_miss_that_something_answers_is_refused(sources: tuple[SourceText, ...], reason: str) -> None:
    assert _refusal(_candidate("When was the harbour opened?", "1911", "unanswerable"), *sources) == reason


def test_the_context_of_a_place_is_its_paragraph() -> None:
    chunk = context_of(SOURCE, _candidate("x?", "1956").places[0]).chunk
    assert chunk.text == "It has boats. The harbour wall fell in 1956. More."
    assert SOURCE.text[chunk.start : chunk.end] == chunk.text
