"""QueryRequest and QueryResult: one question to the pipeline, and all that came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from generation.completion import Completion
from generation.params import SamplingParams
from generation.prompt import Prompt
from generation.restyling import Style
from retrieval.retriever import Fusion, Mode


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """question: as asked. collection: None takes the only one there is. retrieval: False asks the model alone.

    k: chunks retrieved. style: "sentence" turns short answers into full sentences by rule. params: sampling; n samples
    from params.seed on.
    """

    question: str
    collection: str | None = None
    retrieval: bool = True
    k: int = 4
    mode: Mode = "hybrid"
    fusion: Fusion = "minmax"
    params: SamplingParams = field(default_factory=SamplingParams)
    style: Style = "short"


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that was retrieved. number: its ``[n]``, None when it did not fit the prompt. shown: characters of it
    that the model was given. start, end: offsets in the document."""

    number: int | None
    document_id: str
    title: str
    start: int
    end: int
    text: str
    shown: int
    rank: int
    score: float
    dense_rank: int | None
    sparse_rank: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One sample: its completion, and for each citation the place in the text and the source it names."""

    completion: Completion

    @property
    def text(self) -> str:
        """The answer as written, citations included."""
        return self.completion.text


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock seconds."""

    retrieval: float
    generation: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """id: of the stored query. generation: hash of the index generation searched, None without retrieval."""

    id: str
    request: QueryRequest
    collection: str | None
    generation: str | None
    model: str
    answers: tuple[Answer, ...]
    sources: tuple[Source, ...]
    timings: Timings

    def to_json(self) -> dict[str, Any]:
        """As the CLI's --json and POST /v1/query give it."""
        return {
            "id": self.id,
            "question": self.request.question,
            "collection": self.collection,
            "generation": self.generation,
            "model": self.model,
            "answers": [_answer_json(answer.completion, self.sources) for answer in self.answers],
            "sources": [_source_json(source) for source in self.sources],
            "timings": {"retrieval_s": self.timings.retrieval, "generation_s": self.timings.generation},
        }


def _answer_json(completion: Completion, sources: tuple[Source, ...]) -> dict[str, Any]:
    by_number = {source.number: source for source in sources if source.number is not None}
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "seed": completion.seed,
        "mean_logprob": (
            sum(completion.token_logprobs) / len(completion.token_logprobs) if completion.token_logprobs else None
        ),
        "logprobs": _logprobs_json(completion),
        "annotations": [
            {
                "type": "citation",
                "number": citation.number,
                "start": citation.start,
                "end": citation.end,
                "document_id": by_number[citation.number].document_id,
            }
            for citation in completion.citations
        ],
        "usage": {
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
        },
    }


def _logprobs_json(completion: Completion) -> list[dict[str, Any]] | None:
    """Every token with its likeliest alternatives, None where none were asked for (or a server gives no token ids)."""
    if not completion.top_logprobs:
        return None
    return [
        {
            "token_id": token,
            "logprob": _finite(logprob),
            "top": [{"token_id": other, "logprob": _finite(value)} for other, value in top],
        }
        for token, logprob, top in zip(
            completion.token_ids, completion.token_logprobs, completion.top_logprobs, strict=True
        )
    ]


def _finite(value: float) -> float | None:
    """JSON has no infinity: a token that cannot be drawn has null."""
    return value if math.isfinite(value) else None


def _source_json(source: Source) -> dict[str, Any]:
    return {
        "number": source.number,
        "document_id": source.document_id,
        "title": source.title,
        "start": source.start,
        "end": source.end,
        "text": source.text,
        "shown_characters": source.shown,
        "rank": source.rank,
        "score": source.score,
        "dense_rank": source.dense_rank,
        "sparse_rank": source.sparse_rank,
    }


def sources_of(prompt: Prompt) -> tuple[Source, ...]:
    """Everything that was retrieved, in order of rank: what the model was shown, then what did not fit."""
    out = []
    for part in prompt.chunks:
        out.append((part.number, part.end - part.start, part.retrieved))
    rows = [*out, *((None, 0, retrieved) for retrieved in prompt.omitted)]
    return tuple(
        Source(
            number=number,
            document_id=retrieved.chunk.document_id,
            title=retrieved.chunk.title,
            start=retrieved.chunk.start,
            end=retrieved.chunk.end,
            text=retrieved.chunk.text,
            shown=shown,
            rank=retrieved.rank,
            score=retrieved.score,
            dense_rank=retrieved.dense_rank,
            sparse_rank=retrieved.sparse_rank,
        )
        for number, shown, retrieved in rows
    )
