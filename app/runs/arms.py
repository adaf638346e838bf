"""Build the arms of a run from their names, with an open collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.retrieval.passages import Passages
from evaluation.modifiers.arm_names import ArmName, ModifierName
from evaluation.modifiers.distractors import DistractorPool, Distractors, GoldAtPosition
from evaluation.modifiers.exemplars import FewShot
from evaluation.modifiers.injection import Injection
from evaluation.modifiers.modifier import ModifiedArm, Modifier
from evaluation.modifiers.reasoning import ChainOfThought
from evaluation.modifiers.suggestion import WrongSuggestion
from evaluation.policies.plan import PolicyPlan
from evaluation.runs.arms import Arm, ClosedBook, Oracle, Rag
from evaluation.runs.policy_arm import PolicyArm
from evaluation.runs.policy_runner import PolicyRunner, Selector
from generation.generator import Generator
from retrieval.search import Search


@dataclass(frozen=True, slots=True)
class PolicyParts:
    """The objects and settings that arms with policies need. threshold, rounds, tokens: see PolicyPlan."""

    generator: Generator
    selector: Selector
    threshold: float
    rounds: int
    tokens: int


def open_arms(
    names: Sequence[ArmName], k: int, search: Search | None, policies: PolicyParts | None = None
) -> tuple[Arm, ...]:
    """Return the arms in the order of their names.

    k: number of chunks to retrieve. search: search that all arms share; None if no arm needs a collection. policies:
    None if no arm has policies. Raises EvaluationError for an invalid value of a modifier, such as a position beyond k.
    """
    makers = _ArmBuilder(k, search, policies)
    return tuple(makers.arm(name) for name in names)


class _ArmBuilder:
    """Builds arms and modifiers that share a search and the gold passages."""

    def __init__(self, k: int, search: Search | None, policies: PolicyParts | None) -> None:
        self._k = k
        self._policies = policies
        self._runner = PolicyRunner(policies.generator, policies.selector, search, k) if policies and search else None
        self._search = search
        self._passages = Passages(search.retriever) if search else None

    def arm(self, name: ArmName) -> Arm:
        """Return the arm with its modifiers or policies."""
        plain = self._plain(name.base)
        parts, runner = self._policies, self._runner
        if parts is not None and runner is not None and (name.policies or name.text == "rag"):
            plan = PolicyPlan(name.policies or ("none",), parts.threshold, parts.rounds, parts.tokens)
            return PolicyArm(plain, name.text, plan, name.policy_samples, runner)
        return ModifiedArm(plain, [self._modifier(m) for m in name.modifiers]) if name.modifiers else plain

    def _plain(self, base: str) -> Arm:
        if base == "closed_book" or self._search is None or self._passages is None:
            return ClosedBook()
        if base == "rag":
            return Rag(self._search, self._k, self._search.settings)
        return Oracle(self._passages, self._k, self._search, settings=self._search.non_default_settings)

    def _modifier(self, name: ModifierName) -> Modifier:
        if name.kind == "sycophancy":
            return WrongSuggestion("sure" if name.value == "sure" else "unsure")
        if name.kind == "injection":
            return Injection("last" if name.value == "last" else "first")
        if name.kind == "few_shot":
            return FewShot(int(name.value))
        if name.kind == "chain_of_thought":
            return ChainOfThought()
        if self._search is None or self._passages is None:
            raise AssertionError(f"{name.kind} needs a collection, which was not opened")
        pool = DistractorPool(self._search, self._passages)
        if name.kind == "distractors":
            return Distractors(pool, int(name.value))
        return GoldAtPosition(pool, int(name.value), self._k)
