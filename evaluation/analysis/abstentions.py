"""Counts of abstentions by kind: correct if the documents do not answer the question, wrong if they do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.outcomes import AnswerEvaluation, is_unresponsive


@dataclass(frozen=True, slots=True)
class Abstentions:
    """Numbers of abstentions of one arm.

    responses: number of responses of the arm.
    rightly, wrongly: abstentions known to be correct or wrong. unknown: all other abstentions.
    to_decline, to_answer: responses to questions that the documents do not answer, and to questions that they answer.
    supported: supported answers. unresponsive: supported answers that do not answer their question.
    """

    arm: str
    responses: int
    rightly: int
    wrongly: int
    unknown: int
    to_decline: int
    to_answer: int
    supported: int = 0
    unresponsive: int = 0


def count_abstentions(
    responses: Iterable[tuple[str, AnswerEvaluation, bool | None]],
) -> tuple[Abstentions, ...]:
    """Count abstentions by arm, in the order in which the arms first appear.

    responses: rows of (arm, evaluation, whether the documents answer the question); None if this is unknown.
    """
    tally: dict[str, list[int]] = {}
    for arm, evaluation, answered in responses:
        counts = tally.setdefault(arm, [0] * 8)
        counts[0] += 1
        if answered is not None:
            counts[5 if answered else 4] += 1
        if evaluation.outcome == "abstained":
            counts[3 if answered is None else 2 if answered else 1] += 1
        counts[6] += evaluation.outcome == "supported"
        counts[7] += is_unresponsive(evaluation)
    return tuple(Abstentions(arm, *counts) for arm, counts in tally.items())


def abstention_line(found: Abstentions) -> str:
    """Return one line for a terminal; "" if there is no abstention and every supported answer is responsive."""
    parts = []
    if found.rightly:
        parts.append(f"{found.rightly} rightly (of {found.to_decline} to questions that the documents do not answer)")
    if found.wrongly:
        parts.append(f"{found.wrongly} wrongly (of {found.to_answer} to questions that they answer)")
    if found.unknown:
        parts.append(f"{found.unknown} to questions not labelled as answerable or not")
    lines = [f"{found.arm} abstained: {', '.join(parts)}"] if parts else []
    if found.unresponsive:
        lines.append(
            f"{found.arm}: {found.unresponsive} of {found.supported} supported answers do not answer their question "
            "(unresponsive)"
        )
    return "; ".join(lines)
