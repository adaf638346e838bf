"""Evaluation of labelled audits: counts, the confidence sequence of the rate in service, and the alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.audits.audit import StoredAudit
from evaluation.guarantee.watching.stream import RateWatch, WatchReading
from evaluation.outcomes import Outcome

_POINTS = 120


@dataclass(frozen=True, slots=True)
class AuditReading:
    """Counts of audits, and the current state of the rate watch.

    drawn: number of audits. withheld: audits in which a policy withheld the answer.
    labelled: answers with a label. waiting: answers without one whose texts are kept. lapsed: answers without one whose
    texts were pruned.
    declined: answers labelled as abstentions. behind: labelled answers that do not count yet, because an earlier answer
    still waits for its label.
    watch: reading of the rate watch over the answers that count. history: its readings after some of the answers, at
    most about 120, for a chart.
    answer_rate: share of the drawn queries that were answered, weighted by their probabilities; None without a draw.
    """

    drawn: int
    withheld: int
    labelled: int
    waiting: int
    lapsed: int
    declined: int
    behind: int
    watch: WatchReading
    answer_rate: float | None
    history: tuple[WatchReading, ...] = ()


def audit_reading(
    audits: Sequence[StoredAudit], outcomes: Mapping[int, Outcome], alpha: float | None, delta: float
) -> AuditReading:
    """Evaluate audits in their order, up to the first answer that still waits for a label.

    The labels after it do not count, because they would be a selected part of the answers. outcomes: label of each
    labelled audit, by number; "unscored" (people could not tell) counts as hallucinated, as in a certificate. alpha,
    delta: see RateWatch. All audits must belong to one certificate.
    """
    watch = RateWatch(alpha, delta)
    step = max(1, len(outcomes) // _POINTS)
    history: list[WatchReading] = []
    earlier_unlabelled = False
    withheld = labelled = waiting = lapsed = declined = behind = 0
    all_weight = answered_weight = 0.0
    for audit in audits:
        all_weight += 1.0 / audit.probability
        answered_weight += audit.answered / audit.probability
        outcome = outcomes.get(audit.number)
        if not audit.answered:
            withheld += 1
        elif outcome is None:
            waiting += audit.kept
            lapsed += not audit.kept
            earlier_unlabelled = earlier_unlabelled or audit.kept
        else:
            labelled += 1
            if earlier_unlabelled:
                behind += 1
            elif outcome == "abstained":
                declined += 1
            else:
                watch.lower_floor(audit.probability)
                watch.add(outcome in ("hallucinated", "unscored"), audit.probability)
                if not (labelled - declined) % step:
                    history.append(watch.reading)
    return AuditReading(
        len(audits),
        withheld,
        labelled,
        waiting,
        lapsed,
        declined,
        behind,
        watch.reading,
        answered_weight / all_weight if audits else None,
        tuple(history),
    )
