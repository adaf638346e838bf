"""PolicyRecord: what a policy did with one answer of a run, as it is stored with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.policies.outcome import PolicyCost, PolicyOutcome


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """One answer. score: of the text that is given, by the verifier that selects, in [0, 1]; None where it has none.

    withheld: why nothing is answered, "" where something is. removed: stretches that were cut. rounds: of correction.
    cost: of the policy by itself: what it shares with other policies of the run counts in each.
    """

    score: float | None
    withheld: str
    removed: int
    rounds: int
    cost: PolicyCost

    def to_json(self) -> dict[str, Any]:
        """As JSON values; ``policy_record_from_json`` is the inverse."""
        return asdict(self)


def policy_record(outcome: PolicyOutcome, score: float | None, saved: float) -> PolicyRecord:
    """Of an outcome with one answer. saved: seconds of work that was not repeated for it."""
    (answer,) = outcome.answers
    cost = outcome.cost
    return PolicyRecord(
        score,
        answer.withheld,
        len(answer.removed),
        len(outcome.rounds),
        PolicyCost(cost.seconds + saved, cost.prompt_tokens, cost.completion_tokens, cost.judged),
    )


def policy_record_from_json(values: Mapping[str, Any]) -> PolicyRecord:
    """The inverse of ``to_json``. Raises KeyError and TypeError for other values."""
    return PolicyRecord(**{**values, "cost": PolicyCost(**values["cost"])})
