"""Define PolicyOutcome, the answers that policies give with a record of what each policy did."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.policies.candidate import Candidate
from evaluation.policies.plan import PolicyPlan
from evaluation.policies.policy import Round


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """Cost of a step or of all policies.

    seconds: wall-clock time.
    prompt_tokens, completion_tokens: numbers of processed and of drawn tokens.
    judged: number of answers that the verifier judged.
    """

    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """One policy that ran. changed: whether it changed an answer or the number of answers."""

    policy: str
    changed: bool
    cost: PolicyCost


@dataclass(frozen=True, slots=True)
class Sample:
    """A drawn answer before any policy. score: see ``answer_score``. chosen: whether a given answer comes from it."""

    text: str
    seed: int
    score: float | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """Result of running policies on the answers to one question.

    verifier: name of the verifier that gave the scores; "" if no policy needed one.
    answers: the answers that are given.
    samples: the drawn answers before any policy.
    steps: the policies in the order in which they ran. The first step includes the first judgement.
    rounds: rounds of correction.
    cost: total cost, including the first draw.
    notes: what policies could not do, as text.
    """

    plan: PolicyPlan
    verifier: str
    answers: tuple[Candidate, ...]
    samples: tuple[Sample, ...]
    steps: tuple[PolicyStep, ...]
    rounds: tuple[Round, ...]
    cost: PolicyCost
    notes: tuple[str, ...] = ()
