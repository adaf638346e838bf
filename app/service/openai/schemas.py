"""Chat completions and models as OpenAI's clients send and read them, and what Plumbline adds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from app.service.api.policy_schemas import PolicyFields, PolicyReply
from app.service.api.schemas import SourceReply, TimingsReply, VerdictReply
from app.service.openai.content import CONTENT_SCHEMA, Role
from app.service.openai.parameters import without_unsupported
from generation.style.restyling import Style
from retrieval.retriever import Fusion, Mode

_EXAMPLE: dict[str, Any] = {
    "model": "handbook",
    "messages": [{"role": "user", "content": "How long is the warranty of the Heron 4?"}],
    "stream": False,
}
_StopText = Annotated[str, Field(max_length=256)]


def _stop_list(stop: object) -> object:
    """One text as a list of one, as other servers take it. Empty texts end nothing and are left out."""
    texts = [stop] if isinstance(stop, str) else stop
    return [text for text in texts if text != ""] if isinstance(texts, list) else texts


def _all_tokens(top_k: object) -> object:
    """None where ``top_k`` asks for all tokens: -1 as vLLM has it, 0 as transformers and llama.cpp have it."""
    return None if top_k in (-1, 0) and not isinstance(top_k, bool) else top_k


_Stop = Annotated[
    list[_StopText] | None,
    BeforeValidator(_stop_list),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
]
_TopK = Annotated[int | None, BeforeValidator(_all_tokens)]


class Message(BaseModel):
    """One message. name is taken and changes nothing; what else a client repeats of an answer is not looked at, nor are
    the calls and results of tools in earlier turns. content is read by app.service.openai.content."""

    model_config = ConfigDict(extra="ignore", strict=True)

    role: Role
    content: Annotated[Any, WithJsonSchema(CONTENT_SCHEMA)] = None


class StreamOptions(BaseModel):
    """include_usage: a last chunk with the tokens used."""

    model_config = ConfigDict(extra="forbid", strict=True)

    include_usage: bool = False
    include_obfuscation: bool = False

    @field_validator("include_obfuscation")
    @classmethod
    def _not_padded(cls, wanted: bool) -> bool:
        if wanted:
            raise ValueError("events are not padded here: leave it out")
        return wanted


class ChatBody(PolicyFields):
    """A conversation whose last message is the question. The model's name chooses the collection."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra={"examples": [_EXAMPLE]}
    )

    model: str = Field(min_length=1, max_length=255, description="a collection, or the generator itself: /v1/models")
    messages: list[Message] = Field(min_length=1, max_length=256)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, ge=1, description="samples; the most is set by the server")
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63, description="left out: drawn, and told in the answer")
    temperature: float | None = Field(default=None, ge=0, le=2, description="default 0, greedy")
    top_p: float | None = Field(default=None, ge=0, le=1, description="0: the likeliest token only")
    max_tokens: int | None = Field(default=None, ge=1, description="as max_completion_tokens")
    max_completion_tokens: int | None = Field(default=None, ge=1, description="default a sixteenth of the context")
    stop: _Stop = Field(default=None, description="at most 16 of at most 256 characters; empty ones are left out")
    logprobs: bool | None = False
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    logit_bias: dict[str, float] | None = Field(default=None, description="nats by token id")
    k: int | None = Field(default=4, ge=1, le=100, description="chunks to retrieve")
    mode: Mode | None = Field(default=None, description="default as the collection is searched")
    fusion: Fusion | None = Field(default=None, description="default as the collection is searched")
    style: Style | None = Field(
        default="short", description='"sentence": short answers as full sentences, made by rule'
    )
    verify: bool | None = Field(
        default=False, description="judge every claim of the answers by what the collection says of it"
    )
    top_k: _TopK = Field(default=None, ge=1, le=2**31 - 1, description="keep the k likeliest tokens; -1, 0: all")
    min_p: float | None = Field(default=0.0, ge=0, le=1)
    repetition_penalty: float | None = Field(default=1.0, gt=0, le=100)

    @model_validator(mode="before")
    @classmethod
    def _supported(cls, fields: Any) -> Any:
        return without_unsupported(fields) if isinstance(fields, dict) else fields

    @field_validator("stop")
    @classmethod
    def _few(cls, stop: list[str] | None) -> list[str] | None:
        if stop is not None and len(stop) > 16:
            raise ValueError(f"there are {len(stop)} stop texts: at most 16 are looked for")
        return stop

    @field_validator("logit_bias")
    @classmethod
    def _token_ids(cls, bias: dict[str, float] | None) -> dict[str, float] | None:
        for token, nats in (bias or {}).items():
            if not (token.isascii() and token.isdecimal() and len(token) < 10):
                raise ValueError(f"{token[:20]!r} is no token id")
            if not -100 <= nats <= 100:
                raise ValueError(f"the bias of token {token} is {nats}: it must be in -100..100")
        return bias

    @model_validator(mode="after")
    def _together(self) -> ChatBody:
        if self.top_logprobs and not self.logprobs:
            raise ValueError("top_logprobs needs logprobs to be true")
        if self.stream_options is not None and not self.stream:
            raise ValueError("stream_options needs stream to be true")
        if self.max_tokens and self.max_completion_tokens and self.max_tokens != self.max_completion_tokens:
            raise ValueError("max_tokens and max_completion_tokens differ: send one of them")
        return self


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class UrlCitation(_Reply):
    """Where a citation stands in the answer, and what it names: ``plumbline:COLLECTION/DOCUMENT#char=START,END``, the
    fragment as RFC 5147 has it."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(_Reply):
    """A citation ``[number]``, as OpenAI's clients read it, with the source's number, document and place in it."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation
    number: int
    document_id: str
    place: str


class ChatMessage(_Reply):
    """What was answered. reasoning_content: what a reasoning model thought before, no part of content; null where it
    did not."""

    role: Literal["assistant"] = "assistant"
    content: str
    reasoning_content: str | None = None
    refusal: None = None
    annotations: list[Annotation]


class TokenLogprob(_Reply):
    """A token and the natural logarithm of its probability at temperature 1; -9999 where it cannot be drawn."""

    token: str
    logprob: float
    bytes: list[int] | None


class ChosenLogprob(TokenLogprob):
    """A token that was drawn, with the likeliest in its place."""

    top_logprobs: list[TokenLogprob]


class Logprobs(_Reply):
    """Of every token of the answer."""

    content: list[ChosenLogprob]
    refusal: None = None


class Choice(_Reply):
    """One sample."""

    index: int
    message: ChatMessage
    logprobs: Logprobs | None
    finish_reason: Literal["stop", "length"]


class PromptDetails(_Reply):
    """cached_tokens: of the prompt, how many had been read for others before."""

    cached_tokens: int


class ChatUsage(_Reply):
    """Tokens; the prompt counts once for all samples."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails


class Judged(_Reply):
    """What the verifier says of one choice."""

    index: int
    outcome: Literal["supported", "hallucinated", "abstained", "unscored"]
    verdicts: list[VerdictReply]


class PlumblineReply(_Reply):
    """What OpenAI's interface has no place for.

    question: as it was searched for and answered, which a follow-up is rewritten to. notes: what of the request could
    not be followed, in words. judged: null unless ``verify`` or a policy asked for it. policy: null unless one was
    asked for.
    """

    query_id: str
    question: str
    collection: str | None
    generation: str | None
    seed: int
    notes: list[str]
    judged: list[Judged] | None
    policy: PolicyReply | None = None
    timings: TimingsReply


class ChatReply(_Reply):
    """A chat completion, with everything that was retrieved."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    system_fingerprint: str
    choices: list[Choice]
    usage: ChatUsage
    sources: list[SourceReply]
    plumbline: PlumblineReply


class ModelReply(_Reply):
    """A collection to answer from, or the generator itself."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "plumbline"


class ModelsReply(_Reply):
    """What may be named as the model."""

    object: Literal["list"] = "list"
    data: list[ModelReply]
