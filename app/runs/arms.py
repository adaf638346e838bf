"""Build arms from the names in a run's plan, over an open collection."""

from __future__ import annotations

from collections.abc import Sequence

from app.retrieval.passages import Passages
from evaluation.modifiers.arm_names import ArmName, ModifierName
from evaluation.modifiers.distractors import DistractorPool, Distractors, GoldAtPosition
from evaluation.modifiers.exemplars import FewShot
from evaluation.modifiers.injection import Injection
from evaluation.modifiers.modifier import ModifiedArm, Modifier
from evaluation.modifiers.reasoning import ChainOfThought
from evaluation.modifiers.suggestion import WrongSuggestion
from evaluation.runs.arms import Arm, ClosedBook, Oracle, Rag
from retrieval.search import Search


def open_arms(names: Sequence[ArmName], k: int, search: Search | None) -> tuple[Arm, ...]:
    """The arms, in order; arms that search share one search. search: None if no arm needs a collection.

    Raises EvaluationError for an invalid value of a modifier, such as a position beyond k.
    """
    makers = _Makers(k, search)
    return tuple(makers.arm(name) for name in names)


class _Makers:
    """Builds arms and modifiers that share a search and the gold passages."""

    def __init__(self, k: int, search: Search | None) -> None:
        self._k = k
        self._search = search
        self._passages = Passages(search.retriever) if search else None

    def arm(self, name: ArmName) -> Arm:
        """A plain arm, or an arm with modifiers."""
        plain = self._plain(name.base)
        return ModifiedArm(plain, [self._modifier(m) for m in name.modifiers]) if name.modifiers else plain

    def _plain(self, base: str) -> Arm:
        if base == "closed_book" or self._search is None or self._passages is None:
            return ClosedBook()
        if base == "rag":
            return Rag(self._search, self._k, self._search.settings)
        return Oracle(self._passages, self._k, self._search, settings=self._search.departures)

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
