"""PolicyOutcome: the answers that are given, and how the policies came to them."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.policies.candidate import Candidate
from evaluation.policies.plan import PolicyPlan
from evaluation.policies.policy import Round


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """What something cost. seconds: wall clock. Tokens are counted as drawn, judged: answers that were judged."""

    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class PolicyStep:
    """One policy that ran. changed: whether any answer, or their number, is another one afterwards."""

    policy: str
    changed: bool
    cost: PolicyCost


@dataclass(frozen=True, slots=True)
class Sample:
    """A drawn answer before any policy. score: see ``answer_score``. chosen: whether one of the given answers is it."""

    text: str
    seed: int
    score: float | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """verifier: whose scores these are, "" where none was asked. cost: of everything, the first draw included.

    notes: what could not be done, in words. steps: in order; the first judgement is a part of the first step.
    """

    plan: PolicyPlan
    verifier: str
    answers: tuple[Candidate, ...]
    samples: tuple[Sample, ...]
    steps: tuple[PolicyStep, ...]
    rounds: tuple[Round, ...]
    cost: PolicyCost
    notes: tuple[str, ...] = ()
