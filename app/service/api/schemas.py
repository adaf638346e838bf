"""Response types of the REST API, as shown in OpenAPI."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.service.api.policy_schemas import PolicyReply

_EXAMPLE_RESULT: dict[str, Any] = {
    "id": "0f8fad5bd9cb469fa16570867728950e",
    "question": "How long is the warranty of the Heron 4?",
    "collection": "handbook",
    "generation": "9b1c" * 16,
    "search": "mode=hybrid fusion=minmax",
    "model": "plumbline-reader",
    "answers": [
        {
            "text": "three years [1]",
            "thought": "",
            "finish_reason": "stop",
            "seed": 0,
            "mean_logprob": -0.21,
            "annotations": [{"type": "citation", "number": 1, "start": 12, "end": 15, "document_id": "warranty"}],
            "usage": {"prompt_tokens": 212, "completion_tokens": 2},
            "outcome": None,
            "verdicts": None,
        }
    ],
    "sources": [
        {
            "number": 1,
            "document_id": "warranty",
            "title": "Warranty",
            "start": 0,
            "end": 50,
            "place": "Warranty, line 3",
            "text": "The warranty of the Heron 4 lasts for three years.",
            "shown_characters": 50,
            "rank": 1,
            "score": 1.0,
            "dense_rank": 1,
            "sparse_rank": 1,
        }
    ],
    "usage": {"prompt_tokens": 212, "cached_tokens": 0, "completion_tokens": 2},
    "timings": {
        "queue_s": 0.0,
        "retrieval_s": 0.012,
        "first_token_s": 0.071,
        "generation_s": 0.094,
        "verification_s": 0.031,
    },
}


class _Reply(BaseModel):
    """Base of all replies. Undeclared fields are refused, so that a forgotten field is an error instead of a leak."""

    model_config = ConfigDict(extra="forbid")


class AnnotationReply(_Reply):
    """A citation: ``text[start:end]`` of the answer is ``[number]``, which refers to the source of that number."""

    type: Literal["citation"]
    number: int
    start: int
    end: int
    document_id: str


class UsageReply(_Reply):
    """Token counts of one answer."""

    prompt_tokens: int
    completion_tokens: int


class AlternativeReply(_Reply):
    """An alternative token. logprob: natural logarithm of its probability; null if the token cannot be generated."""

    token_id: int
    logprob: float | None


class TokenReply(AlternativeReply):
    """A generated token with the most likely alternatives."""

    top: list[AlternativeReply]


class EvidenceReply(_Reply):
    """The span of a document on which a verdict is based."""

    document_id: str | None
    start: int
    end: int
    text: str


class VerdictReply(_Reply):
    """The verdict on one claim, which is ``text[start:end]`` of the answer.

    support: in [0, 1]; null if the claim is unscored. reason: explanation; never empty if the claim is unscored.
    """

    start: int
    end: int
    text: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str
    evidence: list[EvidenceReply]


class AnswerReply(_Reply):
    """One generated answer.

    thought: the reasoning of a reasoning model before its answer, which is not part of text; empty if there is none.
    mean_logprob: mean natural logarithm of the token probabilities at temperature 1; null without tokens.
    logprobs: null unless requested.
    outcome, verdicts: null unless ``verify`` or a policy is requested.
    """

    text: str
    thought: str = ""
    finish_reason: Literal["stop", "length", "cancelled", "deadline"]
    seed: int
    mean_logprob: float | None
    logprobs: list[TokenReply] | None = None
    annotations: list[AnnotationReply]
    usage: UsageReply
    outcome: Literal["supported", "hallucinated", "abstained", "unscored"] | None = None
    verdicts: list[VerdictReply] | None = None


class SourceReply(_Reply):
    """A retrieved chunk. number: the chunk's number in the prompt, which citations refer to; null if it did not fit."""

    number: int | None
    document_id: str
    title: str
    start: int = Field(description="offset of the chunk in its document, in characters")
    end: int
    place: str = Field(description="location as text (page, heading, line); empty if unknown")
    text: str
    shown_characters: int = Field(description="number of the chunk's characters in the prompt")
    rank: int
    score: float
    dense_rank: int | None
    sparse_rank: int | None


class TimingsReply(_Reply):
    """Wall-clock seconds of a query. queue_s: time spent waiting for a slot. first_token_s: time from the arrival of
    the request to the first text.
    """

    queue_s: float
    retrieval_s: float
    first_token_s: float | None
    generation_s: float
    verification_s: float | None


class TotalUsageReply(_Reply):
    """Numbers of tokens of the prompt, of its cached part, and of all answers."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


class QueryReply(_Reply):
    """Answers with citations, and all retrieved chunks by rank."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE_RESULT]})

    id: str
    question: str
    collection: str | None
    generation: str | None = Field(description="hash of the searched index generation; null without retrieval")
    search: str | None = Field(description="search settings as text; null without retrieval")
    model: str
    answers: list[AnswerReply]
    sources: list[SourceReply]
    usage: TotalUsageReply
    timings: TimingsReply
    policy: PolicyReply | None = Field(default=None, description="null unless a policy or a rate is requested")


class CollectionReply(_Reply):
    """A collection. Index fields are 0 or null if no index is published."""

    name: str
    documents: int
    chunks: int
    generation: str | None
    encoder: str | None
    created_at: datetime
    published_at: datetime | None


class CollectionsReply(_Reply):
    """All collections of the caller's tenant, sorted by name."""

    object: Literal["list"] = "list"
    data: list[CollectionReply]


class LiveReply(_Reply):
    """State of a process that responds."""

    status: Literal["live"] = "live"


class ReadyReply(_Reply):
    """State of a service that is ready to answer.

    collections: names of the published collections of the caller's tenant.
    collection_count: number of published collections of all tenants.
    """

    status: Literal["ready"] = "ready"
    model: str
    collections: list[str]
    collection_count: int


class ErrorDetail(_Reply):
    """OpenAI's error object."""

    message: str
    type: Literal["invalid_request_error", "rate_limit_error", "server_error"]
    param: str | None
    code: str


class ErrorReply(_Reply):
    """The body of every error."""

    error: ErrorDetail


class NotReadyReply(ErrorReply):
    """State of a service that is not ready. reasons: one entry per problem."""

    reasons: list[str]
