"""What the service takes and gives, as types that OpenAPI can show. Knows nothing of how it is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.answers import QueryRequest
from generation.params import SamplingParams
from generation.restyling import Style
from retrieval.retriever import Fusion, Mode

_EXAMPLE_QUERY: dict[str, Any] = {
    "question": "How long is the warranty of the Heron 4?",
    "collection": "handbook",
    "k": 4,
    "temperature": 0.0,
    "max_tokens": 32,
}
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


class QueryBody(BaseModel):
    """A question and how to answer it. A field that is not known is refused, so that a misspelt one is not ignored."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra={"examples": [_EXAMPLE_QUERY]}
    )

    question: str = Field(min_length=1, description="in words; its greatest length is set by the server")
    collection: str | None = Field(default=None, max_length=64, description="default: the only collection there is")
    retrieval: bool = Field(default=True, description="false asks the model alone")
    k: int = Field(default=4, ge=1, le=100, description="chunks to retrieve")
    mode: Mode | None = Field(default=None, description="which retrievers are asked; default as the collection says")
    fusion: Fusion | None = Field(default=None, description="how a hybrid joins them; default as the collection says")
    style: Style = Field(default="short", description='"sentence": short answers as full sentences, made by rule')
    temperature: float = Field(default=0.0, ge=0, le=100, description="0 is greedy")
    top_k: int | None = Field(default=None, ge=1, le=2**31 - 1, description="keep the k likeliest tokens; default all")
    top_p: float = Field(default=1.0, gt=0, le=1, description="keep the likeliest tokens up to this probability")
    min_p: float = Field(default=0.0, ge=0, le=1, description="keep tokens at least this likely beside the likeliest")
    repetition_penalty: float = Field(default=1.0, gt=0, le=100, description="above 1 repeats less; 1 is none")
    logprobs: int = Field(default=0, ge=0, le=20, description="alternatives to return with every token")
    max_tokens: int = Field(default=32, ge=1, description="longest answer; less than the model's context")
    stop: list[Annotated[str, Field(min_length=1, max_length=256)]] = Field(
        default_factory=list, max_length=16, description="texts that end an answer"
    )
    n: int = Field(default=1, ge=1, description="samples; the most is set by the server")
    seed: int = Field(default=0, ge=0, lt=2**63, description="of everything random: the same seed, the same answers")
    verify: bool = Field(
        default=False, description="judge every claim of the answers by what the collection says of it"
    )
    deadline_s: float | None = Field(
        default=None, gt=0, le=86_400, description="longest time for all of it; the server has a limit of its own"
    )
    stream: bool = Field(default=False, description="answer with server-sent events, as they come")

    @field_validator("question")
    @classmethod
    def _says_something(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty: ask something")
        if "\0" in question:
            raise ValueError("the question holds a NUL character: take it out")
        return question

    def to_request(self) -> QueryRequest:
        """As the pipeline takes it."""
        return QueryRequest(
            question=self.question,
            collection=self.collection,
            retrieval=self.retrieval,
            k=self.k,
            mode=self.mode,
            fusion=self.fusion,
            style=self.style,
            params=SamplingParams(
                temperature=self.temperature,
                top_k=self.top_k,
                top_p=self.top_p,
                max_tokens=self.max_tokens,
                stop=tuple(self.stop),
                n=self.n,
                seed=self.seed,
                min_p=self.min_p,
                repetition_penalty=self.repetition_penalty,
                top_logprobs=self.logprobs,
            ),
        )


class _Reply(BaseModel):
    """Nothing is sent that is not declared: a field added elsewhere and forgotten here is an error, not a leak."""

    model_config = ConfigDict(extra="forbid")


class AnnotationReply(_Reply):
    """A citation: ``text[start:end]`` is ``[number]`` and names the source of that number."""

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
    """A token that might have been drawn; logprob is null where it cannot be."""

    token_id: int
    logprob: float | None


class TokenReply(AlternativeReply):
    """A token that was drawn, with the likeliest tokens in its place."""

    top: list[AlternativeReply]


class EvidenceReply(_Reply):
    """Where a verdict rests: a place in a document."""

    document_id: str | None
    start: int
    end: int
    text: str


class VerdictReply(_Reply):
    """What the verifier says of one claim, which is ``text[start:end]`` of the answer. support: in [0, 1], null where
    it is unscored, and then reason says why."""

    start: int
    end: int
    text: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str
    evidence: list[EvidenceReply]


class AnswerReply(_Reply):
    """One sample. mean_logprob: natural logarithm, at temperature 1; null when there is no token. logprobs: null unless
    they were asked for. outcome, verdicts: null unless ``verify`` asked for them."""

    text: str
    finish_reason: Literal["stop", "length", "cancelled", "deadline"]
    seed: int
    mean_logprob: float | None
    logprobs: list[TokenReply] | None = None
    annotations: list[AnnotationReply]
    usage: UsageReply
    outcome: Literal["supported", "hallucinated", "abstained", "unscored"] | None = None
    verdicts: list[VerdictReply] | None = None


class SourceReply(_Reply):
    """A chunk that was retrieved. number: its ``[n]``, null when it did not fit the prompt."""

    number: int | None
    document_id: str
    title: str
    start: int = Field(description="offset of the chunk in its document, in characters")
    end: int
    place: str = Field(description="where that is, as a person says it (page, heading, line); empty if not known")
    text: str
    shown_characters: int = Field(description="how many of the chunk's characters the model was given")
    rank: int
    score: float
    dense_rank: int | None
    sparse_rank: int | None


class TimingsReply(_Reply):
    """Wall-clock seconds. queue_s: waiting for a turn. first_token_s: from the request's arrival to the first text."""

    queue_s: float
    retrieval_s: float
    first_token_s: float | None
    generation_s: float
    verification_s: float | None


class TotalUsageReply(_Reply):
    """Tokens: of the one prompt, of it those that had been read for others before, and of all answers."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


class QueryReply(_Reply):
    """Answers with citations, and everything that was retrieved, by rank."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE_RESULT]})

    id: str
    question: str
    collection: str | None
    generation: str | None = Field(description="hash of the index generation searched; null without retrieval")
    search: str | None = Field(description="how it was searched; null without retrieval")
    model: str
    answers: list[AnswerReply]
    sources: list[SourceReply]
    usage: TotalUsageReply
    timings: TimingsReply


class CollectionReply(_Reply):
    """A collection; what speaks of an index is 0 or null where none was published."""

    name: str
    documents: int
    chunks: int
    generation: str | None
    encoder: str | None
    created_at: datetime
    published_at: datetime | None


class CollectionsReply(_Reply):
    """All collections, by name."""

    object: Literal["list"] = "list"
    data: list[CollectionReply]


class LiveReply(_Reply):
    """The process answers."""

    status: Literal["live"] = "live"


class ReadyReply(_Reply):
    """Everything that an answer needs is open."""

    status: Literal["ready"] = "ready"
    model: str
    collections: list[str]


class ErrorDetail(_Reply):
    """OpenAI's error object."""

    message: str
    type: Literal["invalid_request_error", "rate_limit_error", "server_error"]
    param: str | None
    code: str


class ErrorReply(_Reply):
    """How every error looks."""

    error: ErrorDetail


class NotReadyReply(ErrorReply):
    """reasons: what is missing, one line each."""

    reasons: list[str]
