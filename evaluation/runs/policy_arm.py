"""PolicyArm: an arm whose answers are those that policies make of another arm's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.policies.plan import PolicyPlan
from evaluation.runs.arms import Arm
from evaluation.runs.policy_runner import PolicyRunner
from retrieval.chunking.chunks import RetrievedChunk

_POLICY = re.compile(r" policy=\[([^\]]*)\] selector=\[([^\]]*)\]$")


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What a run's settings say of an arm with policies. policy: as a certificate names it; selector: the verifier."""

    policy: str
    selector: str


class PolicyArm:
    """The chunks of a base arm, and policies on the answers. The base arm itself is one with the policy ``none``."""

    def __init__(self, base: Arm, name: str, plan: PolicyPlan, samples: int, runner: PolicyRunner) -> None:
        """samples: how many ``best_of_n`` chooses from, else 1."""
        self._base = base
        self.name = name
        self.plan, self.samples, self.runner = plan, samples, runner
        self.settings = base.settings
        if plan.judges:
            policy = plan.certified_name(samples)
            if "abstain" in plan.names:
                policy += f"({plan.threshold!r})"
            self.settings += f" policy=[{policy}] selector=[{runner.selector.name}]"

    @property
    def base(self) -> str:
        """Name of the arm whose draws the policies work on."""
        return self._base.name

    def prepare(self, questions: Sequence[Question]) -> None:
        """See Arm.prepare."""
        self._base.prepare(questions)

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """See Arm.chunks."""
        return self._base.chunks(question)


def drawn_settings(settings: str) -> str:
    """An arm's stored settings without its policies: those of the chunks."""
    return _POLICY.sub("", settings)


def policy_settings(settings: str) -> PolicySettings | None:
    """What an arm's stored settings say of its policies; None for an arm whose answers are given as drawn."""
    found = _POLICY.search(settings)
    return None if found is None else PolicySettings(found[1], found[2])
