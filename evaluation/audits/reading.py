"""What labelled audits say of the rate in service: counts, the confidence sequence, and the alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.audits.audit import StoredAudit
from evaluation.guarantee.watching.stream import RateWatch, WatchReading
from evaluation.outcomes import Outcome

_POINTS = 120


@dataclass(frozen=True, slots=True)
class AuditReading:
    """Counts of audits, and the reading of the watch on them.

    drawn: all audits. withheld: no answer was given. labelled: answers with a label. waiting: answers without one whose
    texts are kept. lapsed: answers without one whose texts were pruned. declined: labelled as an abstention, so no
    answer. behind: labelled answers that do not count yet, because an answer before them has no label. watch: of the
    answers that count. answer_rate: share of the drawn queries that were answered, weighted by their probabilities;
    None without a draw. history: the readings after some of the answers, at most about 120, for a chart.
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
    """Read audits in their order, up to the first answer that still waits for a label.

    Later labels would be a chosen part of the answers. outcomes: the label of each labelled audit, by number;
    "unscored" (people could not tell) counts as hallucinated, as in a certificate. alpha, delta: see RateWatch. The
    audits must be of one certificate.
    """
    watch = RateWatch(alpha, delta)
    step = max(1, len(outcomes) // _POINTS)
    history: list[WatchReading] = []
    open_found = False
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
            open_found = open_found or audit.kept
        else:
            labelled += 1
            if open_found:
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
