"""PolicyResult, the effect of policies on the answers to a query, and its conversion to JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evaluation.guarantee.certificate import Certificate
from evaluation.policies.candidate import Candidate
from evaluation.policies.flag import flagged_spans
from evaluation.policies.outcome import PolicyCost, PolicyOutcome


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """The effect of policies on a query. certificate, max_rate: None if no target rate was requested."""

    outcome: PolicyOutcome
    certificate: Certificate | None = None
    max_rate: float | None = None


def policy_json(result: PolicyResult) -> dict[str, Any]:
    """Return the JSON object of the CLI's --json, POST /v1/query and chat completions.

    Its ``answers`` are in the order of the drawn answers.
    """
    outcome = result.outcome
    plan = outcome.plan
    return {
        "ran": list(plan.names),
        "threshold": plan.threshold if plan.judges else None,
        "verifier": outcome.verifier or None,
        "max_hallucination_rate": result.max_rate,
        "certificate": None if result.certificate is None else certificate_summary(result.certificate),
        "answers": [_answer(candidate, result) for candidate in outcome.answers],
        "samples": [asdict(sample) for sample in outcome.samples] if plan.judges else [],
        "rounds": [asdict(one) for one in outcome.rounds],
        "steps": [{"policy": step.policy, "changed": step.changed, "cost": _cost(step.cost)} for step in outcome.steps],
        "cost": {**_cost(outcome.cost), "rounds": len(outcome.rounds)},
        "notes": list(outcome.notes),
    }


def certificate_summary(certificate: Certificate) -> dict[str, Any]:
    """Return the fields of a certificate that clients receive."""
    names = ("id", "alpha", "delta", "threshold", "labels", "answer_rate", "answer_rate_lower", "answer_rate_upper")
    return {**{name: getattr(certificate, name) for name in names}, "created_at": certificate.created_at}


def _answer(candidate: Candidate, result: PolicyResult) -> dict[str, Any]:
    plan = result.outcome.plan
    flagged = flagged_spans(candidate, plan.threshold) if "flag" in plan.names else ()
    return {
        "answered": not candidate.withheld,
        "reason": candidate.withheld,
        "score_drawn": candidate.score,
        "score": candidate.score_now,
        "flagged": [asdict(span) for span in flagged],
        "removed": [asdict(one) for one in candidate.removed],
    }


def _cost(cost: PolicyCost) -> dict[str, Any]:
    return {
        "seconds": cost.seconds,
        "prompt_tokens": cost.prompt_tokens,
        "completion_tokens": cost.completion_tokens,
        "answers_judged": cost.judged,
    }
