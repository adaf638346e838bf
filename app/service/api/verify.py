"""/v1/verify: judges whether given evidence supports claims."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, FailFast, Field, model_validator

from app.judging.verification import CheckedClaim, ClaimPair, checked_json
from app.service.api.jobs_schemas import Reply
from app.service.api.json_route import JsonRoute, error_responses
from app.service.engine.answering import QueryService
from app.service.engine.verification import CheckRequest
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError
from evaluation.verifiers.evidence import EvidenceText

verify_router = APIRouter(route_class=JsonRoute, tags=["verify"])

MOST_CLAIMS = 256
MOST_CHARACTERS = 2_000_000
_EXAMPLE: dict[str, Any] = {
    "claims": [
        {
            "id": "1",
            "claim": "The notice period is six weeks.",
            "evidence": ["Either side may end the contract with six weeks' notice."],
            "question": "How long is the notice period?",
        }
    ]
}


class ClaimBody(BaseModel):
    """A claim and its evidence."""

    model_config = ConfigDict(extra="forbid", strict=True)

    claim: str = Field(min_length=1, max_length=20_000)
    evidence: list[Annotated[str, Field(max_length=200_000)]] = Field(max_length=64, description="any number of texts")
    question: str = Field(default="", max_length=20_000, description="the question that the claim answers")
    answerable: bool = Field(
        default=True,
        description="false if the documents do not answer the question: a short answer is then judged by the "
        "verifier's network alone, without the reader, which is unreliable for such questions",
    )
    id: str = Field(default="", max_length=255, description="ID of the claim, returned with its result")


class VerifyBody(BaseModel):
    """Claims to judge in one request. words: whether to find the words that lower the support (slower)."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    claims: Annotated[list[ClaimBody], FailFast()] = Field(min_length=1, max_length=MOST_CLAIMS)
    words: bool = False

    @model_validator(mode="after")
    def _not_too_long(self) -> VerifyBody:
        length = sum(len(c.claim) + sum(map(len, c.evidence)) for c in self.claims)
        if length > MOST_CHARACTERS:
            raise ValueError(f"claims and evidence have {length} characters, the maximum is {MOST_CHARACTERS}")
        return self


class BestReply(Reply):
    """The evidence sentence that supports the claim best. document: ``evidence n``, for the n-th text of the request.
    start, end: character offsets in that text.
    """

    document: str
    start: int
    end: int
    text: str


class SentenceReply(Reply):
    """A sentence of the claim, which is ``claim[start:end]``."""

    start: int
    end: int
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None


class WeakReply(Reply):
    """A word of the claim that lowers its support. gain: increase of the support if the word is removed."""

    start: int
    end: int
    text: str
    gain: float


class CheckedReply(Reply):
    """The verdict on a claim, which is that of its least supported sentence. support: in [0, 1]; null if unscored.
    weak: null unless requested.
    """

    id: str = ""
    claim: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str
    best: list[BestReply]
    sentences: list[SentenceReply]
    weak: list[WeakReply] | None


class VerifyReply(Reply):
    """One result per claim, in the order of the request."""

    object: Literal["list"] = "list"
    data: list[CheckedReply]


@verify_router.post(
    "/v1/verify",
    summary="Verify claims against evidence",
    responses=error_responses(400, 401, 403, 408, 413, 415, 422, 429, 500, 503),
)
async def verify(
    body: VerifyBody, request: Request, caller: Annotated[Caller, Depends(require("query"))]
) -> VerifyReply:
    """Judge each claim by its own evidence. A support of 0.5 or more is "supported", less is "unverifiable": this
    verifier cannot distinguish a contradiction from missing evidence.
    """
    service = request.app.state.answering
    assert isinstance(service, QueryService)  # noqa: S101 - the lifespan puts nothing else there
    if not service.health.parts.all_open:
        raise ApiError(503, "not ready: GET /readyz gives the reasons", code="not_ready", retry_after=5)
    checked = await service.check(CheckRequest(tuple(_pair(claim) for claim in body.claims), body.words))
    return VerifyReply(data=[_reply(one) for one in checked])


def _pair(claim: ClaimBody) -> ClaimPair:
    texts = enumerate(claim.evidence, start=1)
    evidence = tuple(EvidenceText(f"evidence {n}", text, 0) for n, text in texts if text.strip())
    return ClaimPair(claim.claim, evidence, claim.question, claim.id, claim.answerable)


def _reply(checked: CheckedClaim) -> CheckedReply:
    return CheckedReply.model_validate(checked_json(checked))
