"""The policy settings of a query, as given on the command line or in the API, and their checks."""

from __future__ import annotations

from dataclasses import dataclass

from app.answers import QueryRequest
from evaluation.errors import EvaluationError
from evaluation.guarantee.levels import check_level
from evaluation.policies.plan import (
    ROUNDS,
    THRESHOLD,
    TOKENS,
    PolicyError,
    PolicyPlan,
    check_samples,
    policy_names,
)


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """The policy settings of a query.

    policies: names in any order. None selects no policy, or ``abstain`` if max_rate is given. max_rate: hallucination
    rate among answered questions that a certificate must guarantee. threshold, rounds, tokens: see PolicyPlan; None for
    the default.
    """

    policies: tuple[str, ...] | None = None
    max_rate: float | None = None
    threshold: float | None = None
    rounds: int | None = None
    tokens: int | None = None

    @property
    def asked(self) -> bool:
        """Whether any policy setting is given."""
        return self != PolicyRequest()


def plan_of(policy_request: PolicyRequest, request: QueryRequest) -> PolicyPlan:
    """Return the checked plan. If a rate is requested, the caller must set the threshold of the certificate.

    Raises PolicyError, naming the parameter, for invalid values, for settings of policies that are not selected, and
    for policies that judge answers when retrieval is off.
    """
    if policy_request.max_rate is not None:
        try:
            check_level("max_hallucination_rate", policy_request.max_rate)
        except EvaluationError as error:
            raise PolicyError("max_hallucination_rate", str(error)) from None
    default = ("none",) if policy_request.max_rate is None else ("abstain",)
    names = policy_names(default if policy_request.policies is None else policy_request.policies)
    plan = PolicyPlan(
        names,
        THRESHOLD if policy_request.threshold is None else policy_request.threshold,
        ROUNDS if policy_request.rounds is None else policy_request.rounds,
        TOKENS if policy_request.tokens is None else policy_request.tokens,
    )
    if policy_request.max_rate is not None:
        if "abstain" not in names:
            raise PolicyError(
                "policy",
                f"policy is {', '.join(names)}: a guaranteed rate needs the policy abstain, which withholds answers "
                "below the certified threshold",
            )
        if policy_request.threshold is not None and not plan.changes_texts:
            raise PolicyError(
                "threshold",
                f"threshold is {policy_request.threshold:g}: leave it out, because the certificate for "
                "max_hallucination_rate sets it",
            )
    if policy_request.threshold is not None and not plan.judges:
        raise PolicyError(
            "threshold", f"threshold is {policy_request.threshold:g}, and no policy uses it: name a policy"
        )
    for name, value in (("correct_rounds", policy_request.rounds), ("correct_tokens", policy_request.tokens)):
        if value is not None and not plan.needs_redraw:
            raise PolicyError(
                name, f"{name} is {value}: it is the budget of the policy correct, so name that policy or leave it out"
            )
    if plan.judges and not request.retrieval:
        raise PolicyError(
            "policy",
            f"policy is {', '.join(names)}: without retrieval there are no passages to judge an answer by",
        )
    check_samples(plan, request.params.n, request.params.temperature)
    return plan
