"""Define PolicyArm, an arm that applies policies to the answers of another arm."""

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
    """Policies of an arm, as stored in the run's settings.

    policy: name of the policies as in a certificate.
    selector: name of the verifier whose scores the policies use.
    """

    policy: str
    selector: str


class PolicyArm:
    """An arm with the chunks of a base arm and policies that act on its answers.

    In a run with policies, the base arm itself is a PolicyArm with the policy ``none``.
    """

    def __init__(self, base: Arm, name: str, plan: PolicyPlan, samples: int, runner: PolicyRunner) -> None:
        """Create the arm.

        samples: number of answers from which ``best_of_n`` chooses; 1 without ``best_of_n``.
        """
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
        """Name of the arm whose draws the policies use."""
        return self._base.name

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare the base arm (see ``Arm.prepare``)."""
        self._base.prepare(questions)

    def chunks(self, question: Question) -> tuple[RetrievedChunk, ...]:
        """Return the chunks of the base arm (see ``Arm.chunks``)."""
        return self._base.chunks(question)


def chunk_settings(settings: str) -> str:
    """Return an arm's stored settings without its policies, that is, the settings of its chunks."""
    return _POLICY.sub("", settings)


def policy_settings(settings: str) -> PolicySettings | None:
    """Return the policies in an arm's stored settings; None for an arm without policies."""
    found = _POLICY.search(settings)
    return None if found is None else PolicySettings(found[1], found[2])
