"""Request and response schemas of OpenAI's chat completions and models, with Plumbline's additions."""

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
    """Return the stop texts as a list, without empty ones. A single text is accepted, as other servers do."""
    texts = [stop] if isinstance(stop, str) else stop
    return [text for text in texts if text != ""] if isinstance(texts, list) else texts


def _all_tokens(top_k: object) -> object:
    """Return None if ``top_k`` selects all tokens: -1 as in vLLM, 0 as in transformers and llama.cpp."""
    return None if top_k in (-1, 0) and not isinstance(top_k, bool) else top_k


_Stop = Annotated[
    list[_StopText] | None,
    BeforeValidator(_stop_list),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
]
_TopK = Annotated[int | None, BeforeValidator(_all_tokens)]


class Message(BaseModel):
    """A message of the conversation.

    The fields name, tool calls and results of earlier turns, and fields that a client repeats from an answer are
    ignored.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    role: Role
    content: Annotated[Any, WithJsonSchema(CONTENT_SCHEMA)] = None


class StreamOptions(BaseModel):
    """Options of a stream. include_usage: whether a last chunk with token counts is sent."""

    model_config = ConfigDict(extra="forbid", strict=True)

    include_usage: bool = False
    include_obfuscation: bool = False

    @field_validator("include_obfuscation")
    @classmethod
    def _no_obfuscation(cls, enabled: bool) -> bool:
        if enabled:
            raise ValueError("padding of events is not supported: omit the field")
        return enabled


class ChatBody(PolicyFields):
    """A conversation whose last message is the question. The model's name selects the collection."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra={"examples": [_EXAMPLE]}
    )

    model: str = Field(
        min_length=1, max_length=255, description="a collection or the generator, as listed by /v1/models"
    )
    messages: list[Message] = Field(min_length=1, max_length=256)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=1, ge=1, description="number of samples; the server sets the maximum")
    seed: int | None = Field(
        default=None, ge=-(2**63), lt=2**63, description="drawn at random if omitted, and returned with the answer"
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="default: 0 (greedy), with best_of_n 0.7")
    top_p: float | None = Field(default=None, ge=0, le=1, description="0 is greedy")
    max_tokens: int | None = Field(default=None, ge=1, description="older name of max_completion_tokens")
    max_completion_tokens: int | None = Field(
        default=None, ge=1, description="maximum number of tokens; default: a sixteenth of the context"
    )
    stop: _Stop = Field(default=None, description="at most 16 texts of at most 256 characters; empty ones are dropped")
    logprobs: bool | None = False
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    logit_bias: dict[str, float] | None = Field(default=None, description="token id -> value added to its logit")
    k: int | None = Field(default=4, ge=1, le=100, description="number of chunks to retrieve")
    mode: Mode | None = Field(default=None, description="default: the collection's setting")
    fusion: Fusion | None = Field(default=None, description="default: the collection's setting")
    style: Style | None = Field(
        default="short", description='"sentence" turns short answers into full sentences, by rules'
    )
    verify: bool | None = Field(default=False, description="judge every claim of the answers against the collection")
    top_k: _TopK = Field(default=None, ge=1, le=2**31 - 1, description="keep the k most likely tokens; -1 or 0: all")
    min_p: float | None = Field(default=0.0, ge=0, le=1)
    repetition_penalty: float | None = Field(default=1.0, gt=0, le=100)

    @model_validator(mode="before")
    @classmethod
    def _supported(cls, fields: Any) -> Any:
        return without_unsupported(fields) if isinstance(fields, dict) else fields

    @field_validator("stop")
    @classmethod
    def _limit_count(cls, stop: list[str] | None) -> list[str] | None:
        if stop is not None and len(stop) > 16:
            raise ValueError(f"there are {len(stop)} stop texts: at most 16 are allowed")
        return stop

    @field_validator("logit_bias")
    @classmethod
    def _token_ids(cls, bias: dict[str, float] | None) -> dict[str, float] | None:
        for token, nats in (bias or {}).items():
            if not (token.isascii() and token.isdecimal() and len(token) < 10):
                raise ValueError(f"{token[:20]!r} is not a token id")
            if not -100 <= nats <= 100:
                raise ValueError(f"the bias of token {token} is {nats}: it must be in -100..100")
        return bias

    @model_validator(mode="after")
    def _check_combinations(self) -> ChatBody:
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
    """Location of a citation in the answer, and its source as a URL.

    The URL is ``plumbline:COLLECTION/DOCUMENT#char=START,END`` (fragment of RFC 5147).
    """

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(_Reply):
    """A citation ``[number]`` in OpenAI's format, with the source's number, document and location."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation
    number: int
    document_id: str
    place: str


class ChatMessage(_Reply):
    """The generated answer.

    reasoning_content: the reasoning of a reasoning model before its answer, which is not part of content; null if there
    is none.
    """

    role: Literal["assistant"] = "assistant"
    content: str
    reasoning_content: str | None = None
    refusal: None = None
    annotations: list[Annotation]


class TokenLogprob(_Reply):
    """A token and the natural logarithm of its probability at temperature 1; -9999 if it cannot be generated."""

    token: str
    logprob: float
    bytes: list[int] | None


class ChosenLogprob(TokenLogprob):
    """A generated token with the most likely alternatives."""

    top_logprobs: list[TokenLogprob]


class Logprobs(_Reply):
    """The log-probabilities of every token of the answer."""

    content: list[ChosenLogprob]
    refusal: None = None


class Choice(_Reply):
    """One generated answer."""

    index: int
    message: ChatMessage
    logprobs: Logprobs | None
    finish_reason: Literal["stop", "length"]


class PromptDetails(_Reply):
    """Details of the prompt's tokens. cached_tokens: number of tokens read from the prefix cache."""

    cached_tokens: int


class ChatUsage(_Reply):
    """Token counts. The prompt counts once for all choices."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails


class Judged(_Reply):
    """The verdicts on one choice."""

    index: int
    outcome: Literal["supported", "hallucinated", "abstained", "unscored"]
    verdicts: list[VerdictReply]


class PlumblineReply(_Reply):
    """Fields that OpenAI's format lacks.

    question: the question that was answered; a follow-up is rewritten to be self-contained.
    notes: sentences on parts of the request that could not be applied.
    judged: null unless ``verify`` or a policy is requested.
    policy: null unless requested.
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
    """A chat completion, with all retrieved chunks."""

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
    """A model: a collection, or the generator without documents."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "plumbline"


class ModelsReply(_Reply):
    """The valid models."""

    object: Literal["list"] = "list"
    data: list[ModelReply]
