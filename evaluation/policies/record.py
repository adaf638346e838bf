"""Define PolicyRecord, which is stored with an answer of a run and describes what its policies did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.policies.outcome import PolicyCost, PolicyOutcome


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """Record of the policies of one answer.

    score: score of the final text in [0, 1] by the selecting verifier; None if it has none.
    withheld: why the answer was withheld; "" if it was not.
    removed: number of removed spans.
    rounds: number of rounds of correction.
    cost: cost of the policies on their own. Work that policies of a run share counts in each of them.
    """

    score: float | None
    withheld: str
    removed: int
    rounds: int
    cost: PolicyCost

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values. ``policy_record_from_json`` is the inverse."""
        return asdict(self)


def policy_record(outcome: PolicyOutcome, score: float | None, saved: float) -> PolicyRecord:
    """Return the record of an outcome with one answer.

    score: score of the final text.
    saved: seconds of work that was shared with other policies and not repeated.
    """
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
    """Return the record of the values of ``to_json``. Raises KeyError and TypeError for other values."""
    return PolicyRecord(**{**values, "cost": PolicyCost(**values["cost"])})
