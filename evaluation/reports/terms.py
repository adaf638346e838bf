"""Define the arms, outcomes and changes that a report mentions."""

from __future__ import annotations

from evaluation.policy_names import is_policy
from evaluation.reports.report_data import ReportData

ARMS = {
    "closed_book": "the model alone, without any passage",
    "rag": "the model with the passages that the search found",
    "oracle": "the model with the passages that contain the answer, as the question set names them",
}
"""Definitions of the base arms. docs/arms.md describes the others."""
OUTCOMES = {
    "hallucinated": "some claim of the answer is not supported",
    "supported": "every claim of the answer is supported",
    "abstained": "the answer declines to answer and makes no claim",
    "unscored": "the answer could not be judged; the reason is shown with it",
}
UNRESPONSIVE_MEANING = "supported, but not an answer to the question; counted with the supported"
CHANGES = {
    "fixed": "hallucinated in the first arm and not in the second",
    "broken": "hallucinated in the second arm and not in the first",
}


def terms_of(data: ReportData) -> tuple[tuple[str, str], ...]:
    """Return (term, definition) of the arms, outcomes and changes in the report."""
    arms = [(arm.arm, meaning) for arm in data.summary.arms if (meaning := arm_meaning(arm.arm))]
    changes = list(CHANGES.items()) if data.summary.pairs else []
    return (*arms, *OUTCOMES.items(), *_unresponsive(data), *changes)


def _unresponsive(data: ReportData) -> list[tuple[str, str]]:
    """Return the term "unresponsive" with its definition, if the report uses it."""
    if not any(found.unresponsive for found in data.abstentions):
        return []
    return [("unresponsive", UNRESPONSIVE_MEANING)]


def counted(number: int, what: str) -> str:
    """Return a number with its noun, such as "1 question" or "6 questions"."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def arm_meaning(name: str) -> str:
    """Return the definition of an arm; "" for the name of an external system."""
    plain, _, run = name.partition(" @")
    base, plus, modifiers = plain.partition("+")
    meaning = ARMS.get(base, "")
    if not meaning:
        return ""
    policies = all(is_policy(part) for part in modifiers.split("+"))
    meaning += f", {'under the policy' if policies else 'changed by'} {modifiers}" if plus else ""
    return meaning + (f", in the run {run}" if run else "")
