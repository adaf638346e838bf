"""The request body of a query."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.answers import QueryRequest
from app.service.api.policy_schemas import PolicyFields
from app.service.engine.live_query import PendingQuery
from app.service.engine.small_talk import small_talk_reply
from app.service.engine.standalone import ConversationTurn
from app.service.http.access import Caller
from data.blank import is_blank
from generation.decoding.params import SamplingParams
from generation.style.restyling import Style
from retrieval.retriever import Fusion, Mode

_EXAMPLE_QUERY: dict[str, Any] = {
    "question": "How long is the warranty of the Heron 4?",
    "collection": "handbook",
    "k": 4,
    "temperature": 0.0,
    "max_tokens": 32,
}


class TurnBody(BaseModel):
    """A question asked earlier in the conversation, and its answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(max_length=20_000)
    answer: str = Field(default="", max_length=100_000)


class QueryBody(PolicyFields):
    """A question and the options of its answer. Unknown fields are refused, so that a misspelt field is an error."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra={"examples": [_EXAMPLE_QUERY]}
    )

    question: str = Field(min_length=1, description="the question; the server sets its maximum length")
    collection: str | None = Field(
        default=None, max_length=64, description="collection to search; default: the only one"
    )
    retrieval: bool = Field(default=True, description="false: answer without retrieval")
    k: int = Field(default=4, ge=1, le=100, description="number of chunks to retrieve")
    mode: Mode | None = Field(default=None, description="retrievers to use; default: the collection's setting")
    fusion: Fusion | None = Field(
        default=None, description="fusion of a hybrid search; default: the collection's setting"
    )
    style: Style = Field(default="short", description='"sentence" turns short answers into full sentences, by rules')
    temperature: float = Field(default=0.0, ge=0, le=100, description="0 is greedy; default 0, with best_of_n 0.7")
    top_k: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="keep the k most likely tokens; default all"
    )
    top_p: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="nucleus sampling: keep the most likely tokens up to this total probability",
    )
    min_p: float = Field(
        default=0.0, ge=0, le=1, description="keep tokens with at least this share of the highest probability"
    )
    repetition_penalty: float = Field(default=1.0, gt=0, le=100, description="above 1 penalises repetition; 1 is off")
    logprobs: int = Field(default=0, ge=0, le=20, description="number of alternatives to return for every token")
    max_tokens: int = Field(default=32, ge=1, description="maximum number of tokens; less than the model's context")
    stop: list[Annotated[str, Field(min_length=1, max_length=256)]] = Field(
        default_factory=list, max_length=16, description="texts at which generation stops"
    )
    n: int = Field(default=1, ge=1, description="number of samples; the server sets the maximum")
    seed: int = Field(default=0, ge=0, lt=2**63, description="random seed: equal seeds give equal answers")
    verify: bool = Field(default=False, description="judge every claim of the answers against the collection")
    history: list[TurnBody] | None = Field(
        default=None,
        max_length=50,
        description="earlier turns of a conversation, oldest first; may be empty. The question may refer to them, and "
        "a greeting gets a greeting. Default: the question is self-contained",
    )
    deadline_s: float | None = Field(
        default=None, gt=0, le=86_400, description="maximum total time in seconds; the server may have a lower limit"
    )
    stream: bool = Field(default=False, description="stream the answer as server-sent events")

    @field_validator("question")
    @classmethod
    def _not_blank(cls, question: str) -> str:
        if is_blank(question):
            raise ValueError("the question is empty")
        if "\0" in question:
            raise ValueError("the question contains a NUL character: remove it")
        return question

    def to_pending(self, caller: Caller) -> PendingQuery:
        """Return the query for the service's engine."""
        history = () if self.history is None else tuple(ConversationTurn(t.question, t.answer) for t in self.history)
        return PendingQuery(
            self.to_request(),
            caller,
            verify=self.verify,
            deadline_s=self.deadline_s,
            policy=self.policy_request(),
            history=history,
            reply="" if self.history is None else small_talk_reply(self.question),
        )

    def to_request(self) -> QueryRequest:
        """Return the query for the pipeline."""
        given = self.temperature if "temperature" in self.model_fields_set else None
        return QueryRequest(
            question=self.question,
            collection=self.collection,
            retrieval=self.retrieval,
            k=self.k,
            mode=self.mode,
            fusion=self.fusion,
            style=self.style,
            params=SamplingParams(
                temperature=self.policy_temperature(given, self.n),
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
