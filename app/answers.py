"""QueryRequest and QueryResult: one question to the pipeline, and all that came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.errors import AppError
from app.policy_json import PolicyResult, policy_json
from data.blank import is_blank
from data.html_table import html_table, shortened
from data.questions import Question
from evaluation.outcomes import AnswerEvaluation, Verdict
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from generation.style.restyling import Style, restyled
from retrieval.retriever import Fusion, Mode


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """question: as asked. collection: None takes the only one there is. retrieval: False asks the model alone.

    k: chunks retrieved. mode, fusion: None as the collection is searched (tuned, else the default). style: "sentence"
    turns short answers into full sentences by rule. params: sampling; n samples from params.seed on.
    """

    question: str
    collection: str | None = None
    retrieval: bool = True
    k: int = 4
    mode: Mode | None = None
    fusion: Fusion | None = None
    params: SamplingParams = field(default_factory=SamplingParams)
    style: Style = "short"


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk that was retrieved. number: its ``[n]``, None when it did not fit the prompt. shown: characters of it
    that the model was given. start, end: offsets in the document. place: where that is, in the words of who wrote it
    (page, heading, line); empty where nothing is known."""

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
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One sample: its completion, and for each citation the place in the text and the source it names. evaluation: what
    a verifier says of it, None where it was not asked."""

    completion: Completion
    evaluation: AnswerEvaluation | None = None

    @property
    def text(self) -> str:
        """The answer as written, citations included."""
        return self.completion.text


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What was searched for a query. collection: as its tenant calls it. generation: hash of the index generation.
    settings: how, in words (Search.settings). locations: of the chunks in their documents, in words, by chunk id.
    All are None or empty without retrieval."""

    collection: str | None = None
    generation: str | None = None
    settings: str | None = None
    locations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timings:
    """Wall-clock seconds. queue: waiting for a turn. first_token: from the question's arrival to the first text of the
    answer, None where nobody looked. verification: None where it was not asked for."""

    retrieval: float
    generation: float
    queue: float = 0.0
    first_token: float | None = None
    verification: float | None = None


def query_request(asked: QueryRequest | Question | str, collection: str | None = None) -> QueryRequest:
    """What is asked as a request. collection: in place of the request's own, None leaves that.

    Raises AppError for an empty question, TypeError for anything that is no question.
    """
    if isinstance(asked, QueryRequest):
        return asked if collection is None else replace(asked, collection=collection)
    text = asked.text if isinstance(asked, Question) else asked
    if not isinstance(text, str):
        raise TypeError(f"a question is a str, a Question or a QueryRequest, not {type(asked).__name__}")
    if is_blank(text):
        raise AppError("the question is empty: ask something", parameter="question")
    return QueryRequest(text, collection)


@dataclass(frozen=True, slots=True, repr=False)
class QueryResult:
    """id: of the stored query. generation: hash of the index generation searched, None without retrieval. search: how,
    in words (Search.settings).

    shared_tokens: of the prompt, how many had been read for other requests before. policy: what policies did with the
    drawn answers, None where none was asked for.
    """

    id: str
    request: QueryRequest
    collection: str | None
    generation: str | None
    model: str
    answers: tuple[Answer, ...]
    sources: tuple[Source, ...]
    timings: Timings
    shared_tokens: int = 0
    search: str | None = None
    policy: PolicyResult | None = None

    def __repr__(self) -> str:
        question, answer = shortened(self.request.question), shortened(self.text)
        place = f", collection {self.collection!r}" if self.collection else ""
        sources = f"{len(self.sources)} {'source' if len(self.sources) == 1 else 'sources'}"
        return f"QueryResult({question!r} -> {answer!r}, {sources}{place}, model {self.model!r})"

    def _repr_html_(self) -> str:
        """The answers, then the sources, for a notebook."""
        rows: list[tuple[str, str, str]] = []
        for answer in self.answers:
            rows.append(("answer", answer.text, answer.evaluation.outcome if answer.evaluation else ""))
        for source in self.sources:
            number = "not shown" if source.number is None else f"[{source.number}]"
            rows.append((number, shortened(source.text, 160), source.place or source.title or source.document_id))
        return html_table(shortened(self.request.question, 160), ("", "text", "verdict or place"), rows)

    @property
    def text(self) -> str:
        """The first answer, as written; "" where there is none."""
        return self.answers[0].text if self.answers else ""

    @property
    def prompt_tokens(self) -> int:
        """Of the one prompt that all samples share, and of those that a policy added."""
        if self.policy is not None:
            return self.policy.outcome.cost.prompt_tokens
        return max((answer.completion.usage.prompt_tokens for answer in self.answers), default=0)

    @property
    def completion_tokens(self) -> int:
        """Of all samples that were drawn."""
        if self.policy is not None:
            return self.policy.outcome.cost.completion_tokens
        return sum(answer.completion.usage.completion_tokens for answer in self.answers)

    def to_json(self) -> dict[str, Any]:
        """As the CLI's --json and POST /v1/query give it."""
        return {
            "id": self.id,
            "question": self.request.question,
            "collection": self.collection,
            "generation": self.generation,
            "search": self.search,
            "model": self.model,
            "answers": [answer_json(answer, self.sources) for answer in self.answers],
            "sources": [source_json(source) for source in self.sources],
            "usage": usage_json(self),
            "timings": timings_json(self.timings),
            "policy": None if self.policy is None else policy_json(self.policy),
        }


def query_result(
    query_id: str,
    request: QueryRequest,
    prompt: Prompt,
    completions: Sequence[Completion],
    searched: SearchRecord,
    timings: Timings,
    *,
    model: str,
    shared_tokens: int = 0,
    shown: QueryRequest | None = None,
) -> QueryResult:
    """The result of one query, its answers in the style that the request asks for.

    request: as it was searched for and answered. shown: as it was asked, where a follow-up question was rewritten;
    None for the same.
    """
    return QueryResult(
        id=query_id,
        request=shown or request,
        collection=searched.collection,
        generation=searched.generation,
        model=model,
        answers=tuple(Answer(restyled(completion, request.question, request.style)) for completion in completions),
        sources=sources_of(prompt, searched.locations),
        timings=timings,
        shared_tokens=shared_tokens,
        search=searched.settings,
    )


def usage_json(result: QueryResult) -> dict[str, int]:
    """Tokens: of the one prompt, of it those that had been read before, and of all completions."""
    return {
        "prompt_tokens": result.prompt_tokens,
        "cached_tokens": result.shared_tokens,
        "completion_tokens": result.completion_tokens,
    }


def timings_json(timings: Timings) -> dict[str, float | None]:
    """Wall-clock seconds by stage."""
    return {
        "queue_s": timings.queue,
        "retrieval_s": timings.retrieval,
        "first_token_s": timings.first_token,
        "generation_s": timings.generation,
        "verification_s": timings.verification,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """One claim's: where it stands in the answer, and where its evidence stands in its document."""
    return {
        "start": verdict.claim.start,
        "end": verdict.claim.end,
        "text": verdict.claim.text,
        "label": verdict.label,
        "support": verdict.support,
        "reason": verdict.reason,
        "evidence": [
            {"document_id": e.document_id, "start": e.start, "end": e.end, "text": e.text} for e in verdict.evidence
        ],
    }


def answer_json(answer: Answer, sources: tuple[Source, ...]) -> dict[str, Any]:
    """One sample, with citations, and verdicts where they were asked for."""
    completion, evaluation = answer.completion, answer.evaluation
    by_number = {source.number: source for source in sources if source.number is not None}
    return {
        "text": completion.text,
        "thought": completion.thought,
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
        "outcome": None if evaluation is None else evaluation.outcome,
        "verdicts": None if evaluation is None else [verdict_json(verdict) for verdict in evaluation.verdicts],
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


def source_json(source: Source) -> dict[str, Any]:
    """One retrieved chunk."""
    return {
        "number": source.number,
        "document_id": source.document_id,
        "title": source.title,
        "start": source.start,
        "end": source.end,
        "place": source.place,
        "text": source.text,
        "shown_characters": source.shown,
        "rank": source.rank,
        "score": source.score,
        "dense_rank": source.dense_rank,
        "sparse_rank": source.sparse_rank,
    }


def sources_of(prompt: Prompt, places: Mapping[str, str] | None = None) -> tuple[Source, ...]:
    """Everything that was retrieved, in order of rank: what the model was shown, then what did not fit.

    places: in words, by chunk id (app.retrieval.chunk_locations.chunk_locations).
    """
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
            place=(places or {}).get(retrieved.chunk.id, ""),
        )
        for number, shown, retrieved in rows
    )
