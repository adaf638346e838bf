"""Request and response schemas of evaluations."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

from app.jobs.requests import EvaluationRequest
from app.runs.decoding_grid import temperature_for
from app.service.api.jobs_schemas import Reply
from evaluation.outcomes import Outcome
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from retrieval.retriever import Fusion, Mode

MOST_QUESTIONS = 5000
_EXAMPLE: dict[str, Any] = {
    "name": "handbook, first try",
    "collection": "handbook",
    "questions": [
        {"id": "q1", "text": "How long is the notice period?", "references": ["six weeks"], "answerable": True}
    ],
    "arms": ["closed_book", "rag"],
    "samples": 3,
    "temperature": 0.7,
}


class EvidenceLocation(BaseModel):
    """Location of evidence in a document, as character offsets."""

    model_config = ConfigDict(extra="forbid", strict=True)

    document_id: str = Field(min_length=1, max_length=1000)
    start: int = Field(ge=0, lt=2**53)
    end: int = Field(ge=0, lt=2**53)


class QuestionBody(BaseModel):
    """A question, and what is known about its answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = Field(min_length=1, max_length=255)
    text: str = Field(min_length=1, max_length=20_000)
    references: list[Annotated[str, Field(max_length=20_000)]] = Field(default_factory=list, max_length=100)
    relevant_document_ids: list[Annotated[str, Field(max_length=1000)]] = Field(default_factory=list, max_length=1000)
    answerable: bool = True
    kind: str = Field(default="", max_length=255)
    evidence: list[EvidenceLocation] = Field(default_factory=list, max_length=100)


class _FirstError(FailFast):
    """FailFast with a hash, which members of a union need."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


_FIRST_ERROR = _FirstError()


class EvaluationBody(BaseModel):
    """An evaluation to start. All arms get the same questions, with the same number of samples each."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra={"examples": [_EXAMPLE]}
    )

    questions: Annotated[list[QuestionBody], _FIRST_ERROR] | Literal["samples"] = Field(
        description='up to 5000 questions, or "samples" for the sample questions of Plumbline'
    )
    name: str = Field(default="", max_length=200, description="title of the report")
    collection: str | None = Field(
        default=None, max_length=64, description="collection to search; default: the only one"
    )
    trusted: str | None = Field(
        default=None,
        max_length=64,
        description="collection in which evidence is searched; default: the collection that is searched for answers",
    )
    arms: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        default=None,
        min_length=1,
        max_length=12,
        description="names of arms (docs/arms.md); default: closed_book, rag and oracle; rag and oracle for the reader",
    )
    limit: int | None = Field(
        default=None, ge=1, le=MOST_QUESTIONS, description="maximum number of questions; the first ones are used"
    )
    samples: int = Field(default=1, ge=1, le=100, description="number of samples per question and arm")
    k: int = Field(default=4, ge=1, le=100, description="number of chunks to retrieve")
    mode: Mode | None = Field(default=None, description="default: the collection's settings")
    fusion: Fusion | None = Field(default=None, description="default: the collection's settings")
    temperature: float | None = Field(
        default=None, ge=0, le=100, description="default: 0 (greedy) for one sample, 0.7 for several"
    )
    top_k: int | None = Field(default=None, ge=1, le=2**31 - 1)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=32, ge=1, le=2**20)
    stop: list[Annotated[str, Field(min_length=1, max_length=256)]] = Field(default_factory=list, max_length=16)
    seed: int = Field(default=0, ge=0, lt=2**63)
    verifier: Literal["auto", "reference", "entailment"] = "auto"
    threshold: float = Field(default=0.5, gt=0, le=1, description="minimum support of a supported claim, in (0, 1]")

    def to_request(self) -> EvaluationRequest:
        """Return the request as it is stored with the job."""
        return EvaluationRequest(
            questions=None if self.questions == "samples" else tuple(q.model_dump() for q in self.questions),
            name=self.name,
            collection=self.collection,
            trusted=self.trusted,
            arms=None if self.arms is None else tuple(self.arms),
            samples=self.samples,
            k=self.k,
            mode=self.mode,
            fusion=self.fusion,
            decoding={
                "temperature": temperature_for(self.temperature, self.samples),
                "top_k": self.top_k,
                "top_p": self.top_p,
                "max_tokens": self.max_tokens,
                "stop": list(self.stop),
            },
            seed=self.seed,
            verifier=self.verifier,
            threshold=self.threshold,
            limit=self.limit,
        )


class RunReply(Reply):
    """A run. samples: number of samples committed so far. verifier: name of the verifier."""

    id: str
    object: Literal["evaluation"] = "evaluation"
    name: str
    status: Literal["running", "interrupted", "failed", "finished"]
    samples: int
    arms: list[str]
    verifier: str
    model: str
    created_at: datetime
    finished_at: datetime | None


class RunsReply(Reply):
    """Runs, newest first."""

    object: Literal["list"] = "list"
    data: list[RunReply]


class RunDetail(RunReply):
    """A run with its estimates. summary: rates by arm and paired differences, with intervals (methods:
    docs/statistics.md); null before the first sample.
    """

    summary: dict[str, Any] | None


class RunVerdict(Reply):
    """The verdict on one claim, which is ``text[start:end]`` of the answer. support: in [0, 1]; null if the claim is
    unscored.
    """

    start: int
    end: int
    text: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str


class RunAnswer(Reply):
    """One sample. text: the answer; null if generation failed. reason: why the answer is unscored; empty otherwise."""

    question_id: str
    arm: str
    sample: int
    seed: int
    text: str | None
    outcome: Outcome
    reason: str
    verdicts: list[RunVerdict]


class RunAnswers(Reply):
    """Answers, sorted by question, arm and sample. total: number of all answers that match the filters."""

    object: Literal["list"] = "list"
    data: list[RunAnswer]
    total: int


def run_fields(info: RunInfo) -> dict[str, Any]:
    """Return the fields of RunReply."""
    labels = dict(info.labels)
    return {
        "id": info.id,
        "name": info.name,
        "status": info.status,
        "samples": info.samples,
        "arms": [arm.name for arm in info.config.arms],
        "verifier": info.config.verifier,
        "model": labels.get("model", ""),
        "created_at": info.created_at,
        "finished_at": info.finished_at,
    }


def run_answer(record: SampleRecord) -> RunAnswer:
    """Return the response for a sample."""
    return RunAnswer(
        question_id=record.question_id,
        arm=record.arm,
        sample=record.sample,
        seed=record.seed,
        text=record.completion.text if record.completion else None,
        outcome=record.evaluation.outcome,
        reason=record.evaluation.reason,
        verdicts=[
            RunVerdict(
                start=v.claim.start,
                end=v.claim.end,
                text=v.claim.text,
                label=v.label,
                support=v.support,
                reason=v.reason,
            )
            for v in record.evaluation.verdicts
        ],
    )
