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


def plan_of(wanted: PolicyRequest, request: QueryRequest) -> PolicyPlan:
    """Return the checked plan. If a rate is requested, the caller must set the threshold of the certificate.

    Raises PolicyError, naming the parameter, for invalid values, for settings of policies that are not selected, and
    for policies that judge answers when retrieval is off.
    """
    if wanted.max_rate is not None:
        try:
            check_level("max_hallucination_rate", wanted.max_rate)
        except EvaluationError as error:
            raise PolicyError("max_hallucination_rate", str(error)) from None
    default = ("none",) if wanted.max_rate is None else ("abstain",)
    names = policy_names(default if wanted.policies is None else wanted.policies)
    plan = PolicyPlan(
        names,
        THRESHOLD if wanted.threshold is None else wanted.threshold,
        ROUNDS if wanted.rounds is None else wanted.rounds,
        TOKENS if wanted.tokens is None else wanted.tokens,
    )
    if wanted.max_rate is not None:
        if "abstain" not in names:
            raise PolicyError(
                "policy",
                f"policy is {', '.join(names)}: a guaranteed rate needs the policy abstain, which withholds answers "
                "below the certified threshold",
            )
        if wanted.threshold is not None and not plan.changes_texts:
            raise PolicyError(
                "threshold",
                f"threshold is {wanted.threshold:g}: leave it out, because the certificate for "
                "max_hallucination_rate sets it",
            )
    if wanted.threshold is not None and not plan.judges:
        raise PolicyError("threshold", f"threshold is {wanted.threshold:g}, and no policy uses it: name a policy")
    for name, value in (("correct_rounds", wanted.rounds), ("correct_tokens", wanted.tokens)):
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
