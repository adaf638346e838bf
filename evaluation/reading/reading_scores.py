"""Score a generator: exact match and F1 on answerable questions, refusal on the others."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from data.reading_examples import ReadingExample
from evaluation.declining.refusals import is_refusal
from evaluation.language.normalise import normal_tokens
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import Generator
from generation.style.restyling import without_citations
from retrieval.chunking.chunks import Chunk, RetrievedChunk


@dataclass(frozen=True, slots=True)
class ReadingScore:
    """Means over the examples of one source. A mean without examples is None.

    exact_match, f1: means over answerable examples. A refusal scores 0.
    no_answer_accuracy: share of unanswerable examples that are refused.
    refused_answerable: share of answerable examples that are refused.
    answers_per_second: speed of greedy answers, one question at a time, with prompt processing.
    """

    source: str
    answerable: int
    unanswerable: int
    exact_match: float | None
    f1: float | None
    no_answer_accuracy: float | None
    refused_answerable: float | None
    answers_per_second: float


def token_f1(prediction: str, reference: str) -> float:
    """Return the harmonic mean of token precision and recall (Rajpurkar et al. 2016, section 6.1), in [0, 1]."""
    left, right = Counter(normal_tokens(prediction)), Counter(normal_tokens(reference))
    common = sum((left & right).values())
    if not left or not right:
        return float(left == right)
    return 2.0 * common / (left.total() + right.total())


def best_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the highest token F1 with any reference."""
    return max(token_f1(prediction, reference) for reference in references)


def exact_match(prediction: str, references: Sequence[str]) -> bool:
    """Return whether the normalised tokens equal those of any reference."""
    tokens = normal_tokens(prediction)
    return any(tokens == normal_tokens(reference) for reference in references)


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """Answer of a generator to one example.

    text: answer without citation marks; "" if the question does not fit.
    refused: whether the generator declined.
    fitted: whether the question fits into the context.
    seconds: time for prompt and answer.
    confidence: probability of the answer's tokens; 0 without tokens.
    """

    text: str
    refused: bool
    fitted: bool
    seconds: float
    confidence: float = 0.0


def read_answers(
    generator: Generator,
    examples: Sequence[ReadingExample],
    passages: Sequence[Sequence[Chunk]],
    *,
    max_tokens: int = 32,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[ReaderAnswer]:
    """Yield a greedy answer to each example from its own passages (in order), one question at a time.

    progress: called with (done, total) examples.
    """
    params = SamplingParams(max_tokens=max_tokens)
    for index, (example, chunks) in enumerate(zip(examples, passages, strict=True)):
        started = time.perf_counter()
        retrieved = [RetrievedChunk(chunk, 0.0, rank) for rank, chunk in enumerate(chunks, start=1)]
        try:
            prompt = generator.prompt(example.question, retrieved, max_tokens)
            completion = generator.generate(prompt, params, (0,))[0]
        except GenerationError:  # the question does not fit, so it is neither answered nor refused
            yield ReaderAnswer("", False, False, time.perf_counter() - started)
        else:
            seconds = time.perf_counter() - started
            confidence = math.exp(sum(completion.token_logprobs)) if completion.token_logprobs else 0.0
            yield ReaderAnswer(without_citations(completion), is_refusal(completion.text), True, seconds, confidence)
        if progress is not None:
            progress(index + 1, len(examples))


def score_reading(
    generator: Generator,
    examples: Sequence[ReadingExample],
    passages: Sequence[Sequence[Chunk]],
    *,
    max_tokens: int = 32,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ReadingScore, ...]:
    """Score the answers of ``read_answers`` by source. The last row is over all sources.

    A question that does not fit into the context counts as wrong. Without examples there are no rows.
    """
    rows: dict[str, list[_Row]] = {}
    answers = read_answers(generator, examples, passages, max_tokens=max_tokens, progress=progress)
    for example, answer in zip(examples, answers, strict=True):
        found = not answer.refused and bool(example.answers)
        row = _Row(
            example.answerable,
            answer.refused,
            found and exact_match(answer.text, example.answers),
            best_f1(answer.text, example.answers) if found else 0.0,
            answer.seconds,
        )
        rows.setdefault(example.source, []).append(row)
    everything = [row for source in rows.values() for row in source]
    if not rows:
        return ()
    return (*(_score(source, rows[source]) for source in sorted(rows)), _score("all", everything))


@dataclass(frozen=True, slots=True)
class _Row:
    answerable: bool
    refused: bool
    exact: bool
    f1: float
    seconds: float


def _score(source: str, rows: Sequence[_Row]) -> ReadingScore:
    yes = [row for row in rows if row.answerable]
    no = [row for row in rows if not row.answerable]
    return ReadingScore(
        source,
        len(yes),
        len(no),
        sum(row.exact for row in yes) / len(yes) if yes else None,
        sum(row.f1 for row in yes) / len(yes) if yes else None,
        sum(row.refused for row in no) / len(no) if no else None,
        sum(row.refused for row in yes) / len(yes) if yes else None,
        len(rows) / sum(row.seconds for row in rows),
    )
