"""Request and response schemas of policies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.policies.policy_request import PolicyRequest
from app.runs.decoding_grid import temperature_for
from evaluation.policies.plan import MOST_ROUNDS, MOST_TOKENS
from evaluation.policy_names import PolicyName


class PolicyFields(BaseModel):
    """Fields of a request that select and configure policies."""

    policy: Annotated[list[PolicyName], Field(max_length=6)] | None = Field(
        default=None,
        description="policies that act on a verifier's verdicts; they run in the order none, flag, strip, best_of_n, "
        "correct, abstain. With any except none, a stream sends no text before the policies have ended",
    )
    max_hallucination_rate: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="maximum share of hallucinated answers, which a valid certificate must guarantee (409 without "
        "one); implies the policy abstain",
    )
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="support below which a claim counts as unsupported; default 0.5"
    )
    correct_rounds: int | None = Field(
        default=None, ge=1, le=MOST_ROUNDS, description="maximum rounds of the policy correct; default 2"
    )
    correct_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TOKENS,
        description="maximum tokens of the policy correct, in prompts and answers; default 8192",
    )

    def policy_request(self) -> PolicyRequest:
        """Return the policies in the pipeline's form."""
        return PolicyRequest(
            None if self.policy is None else tuple(self.policy),
            self.max_hallucination_rate,
            self.threshold,
            self.correct_rounds,
            self.correct_tokens,
        )

    def policy_temperature(self, given: float | None, samples: int) -> float:
        """Return the temperature. given: the requested temperature; None selects 0 (greedy), or 0.7 if best_of_n
        selects among several samples.
        """
        return temperature_for(given, samples if "best_of_n" in (self.policy or ()) else 1)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FlaggedReply(_Reply):
    """A claim that is not supported, ``text[start:end]`` of the answer. support: in [0, 1]; null if the claim is
    unscored.
    """

    start: int
    end: int
    text: str
    label: Literal["supported", "contradicted", "unverifiable", "unscored"]
    support: float | None
    reason: str


class RemovedReply(_Reply):
    """A text that a policy removed. start, end: character offsets in the answer before the removal."""

    policy: str
    text: str
    start: int
    end: int
    support: float | None
    reason: str


class PolicyAnswerReply(_Reply):
    """Result of the policies for one answer. answered: whether the answer is given. reason: why it is withheld, if it
    is. score_drawn: support of the least supported claim of the generated text. score: the same for the returned text.
    """

    answered: bool
    reason: str
    score_drawn: float | None
    score: float | None
    flagged: list[FlaggedReply]
    removed: list[RemovedReply]


class SampleReply(_Reply):
    """An answer as the model generated it. chosen: whether a returned answer is based on it."""

    text: str
    seed: int
    score: float | None
    chosen: bool


class RoundReply(_Reply):
    """A round of correction: the query for an unsupported claim, and the answer generated from the retrieved passages.
    kept: whether the new answer replaced the earlier one.
    """

    query: str
    claim: str
    text: str
    score: float | None
    kept: bool
    found: int = Field(description="number of retrieved passages that the earlier prompt did not have")
    prompt_tokens: int
    completion_tokens: int


class StepCostReply(_Reply):
    """Cost of one policy. seconds: wall-clock time."""

    seconds: float
    prompt_tokens: int
    completion_tokens: int
    answers_judged: int


class CostReply(StepCostReply):
    """Total cost of a query, including its first generation."""

    rounds: int


class StepReply(_Reply):
    """A policy that ran."""

    policy: PolicyName
    changed: bool
    cost: StepCostReply


class CertificateReply(_Reply):
    """A certificate: with probability at least 1 - delta, at most a share alpha of the answers that score at least
    threshold hallucinate.
    """

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
    """The policies that ran, and their results. answers: results in the order of the returned answers. threshold,
    verifier: null if no policy judged the answers. certificate: null unless a rate was requested.
    """

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
