"""Policies as requests ask for them and replies tell of them, as types that OpenAPI can show."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.policies.policy_request import PolicyRequest
from app.runs.decoding_grid import temperature_for
from evaluation.policies.plan import MOST_ROUNDS, MOST_TOKENS
from evaluation.policy_names import PolicyName


class PolicyFields(BaseModel):
    """The part of a request that asks for policies."""

    policy: Annotated[list[PolicyName], Field(max_length=6)] | None = Field(
        default=None,
        description="what a verifier does with the answer, run in this order: none, flag, strip, best_of_n, correct, "
        "abstain; with any but none a stream sends no text before they have ended",
    )
    max_hallucination_rate: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="answer only with a valid certificate that at most this share of the answers hallucinates, "
        "else 409; implies the policy abstain",
    )
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="support below which a claim is unsupported; default 0.5"
    )
    correct_rounds: int | None = Field(default=None, ge=1, le=MOST_ROUNDS, description="of correct; default 2")
    correct_tokens: int | None = Field(
        default=None, ge=1, le=MOST_TOKENS, description="of correct, prompts and answers together; default 8192"
    )

    def policy_request(self) -> PolicyRequest:
        """As the pipeline takes it."""
        return PolicyRequest(
            None if self.policy is None else tuple(self.policy),
            self.max_hallucination_rate,
            self.threshold,
            self.correct_rounds,
            self.correct_tokens,
        )

    def policy_temperature(self, given: float | None, samples: int) -> float:
        """The temperature: as given, else greedy, but not for samples that best_of_n chooses among."""
        return temperature_for(given, samples if "best_of_n" in (self.policy or ()) else 1)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FlaggedReply(_Reply):
    """``text[start:end]`` of the answer is a claim that is not supported; support is null where it is unscored."""

    start: int
    end: int
    text: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str


class RemovedReply(_Reply):
    """What a policy took out: start and end are offsets into the text before the cut."""

    policy: str
    text: str
    start: int
    end: int
    support: float | None
    reason: str


class PolicyAnswerReply(_Reply):
    """What became of one answer. score: support of its least supported claim; score_drawn: before any policy. reason:
    why it is withheld where answered is false."""

    answered: bool
    reason: str
    score_drawn: float | None
    score: float | None
    flagged: list[FlaggedReply]
    removed: list[RemovedReply]


class SampleReply(_Reply):
    """An answer as drawn. chosen: whether a given answer is made of it."""

    text: str
    seed: int
    score: float | None
    chosen: bool


class RoundReply(_Reply):
    """A round of correction: the query for a claim, and the answer drawn from what was found."""

    query: str
    claim: str
    text: str
    score: float | None
    kept: bool
    found: int = Field(description="passages that the earlier prompt had not")
    prompt_tokens: int
    completion_tokens: int


class StepCostReply(_Reply):
    """Of one policy; seconds are wall clock."""

    seconds: float
    prompt_tokens: int
    completion_tokens: int
    answers_judged: int


class CostReply(StepCostReply):
    """Of everything, the first draw included."""

    rounds: int


class StepReply(_Reply):
    """A policy that ran."""

    policy: PolicyName
    changed: bool
    cost: StepCostReply


class CertificateReply(_Reply):
    """What was certified: of the answers at or above the threshold at most alpha hallucinate, with probability at least
    1 - delta."""

    id: str
    alpha: float
    delta: float
    threshold: float
    labels: int
    answer_rate: float
    answer_rate_lower: float
    answer_rate_upper: float
    created_at: str


class PolicyReply(_Reply):
    """Which policies ran and what they did. answers: in the order of the given answers. threshold, verifier: null where
    none judged. certificate: null unless a rate was asked for."""

    ran: list[PolicyName]
    threshold: float | None
    verifier: str | None
    max_hallucination_rate: float | None
    certificate: CertificateReply | None
    answers: list[PolicyAnswerReply]
    samples: list[SampleReply]
    rounds: list[RoundReply]
    steps: list[StepReply]
    cost: CostReply
    notes: list[str]
