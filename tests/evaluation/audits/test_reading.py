"""Evaluation of labelled audits: order, weights, counts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evaluation.audits.audit import StoredAudit
from evaluation.audits.reading import audit_reading
from evaluation.guarantee.watching.stream import RateWatch
from evaluation.outcomes import Outcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def audit(number: int, probability: float = 1.0, answered: bool = True, kept: bool = True) -> StoredAudit:
    return StoredAudit(number, f"q{number}", "c", "abstain", probability, answered, 0.5, None, kept, None, NOW)


def test_nothing() -> None:
    found = audit_reading([], {}, 0.1, 0.05)
    assert (found.drawn, found.answer_rate, found.watch.rate) == (0, None, None)


def test_it_reads_up_to_the_first_answer_that_waits() -> None:
    outcomes: dict[int, Outcome] = {1: "supported", 2: "hallucinated", 5: "hallucinated", 6: "abstained"}
    audits = [audit(1), audit(2), audit(3, answered=False), audit(4), audit(5), audit(6)]
    found = audit_reading(audits, outcomes, 0.1, 0.05)
    assert (found.watch.audited, found.watch.rate, found.waiting, found.behind) == (2, 0.5, 1, 2)
    lapsed = audit_reading([*audits[:3], audit(4, kept=False), *audits[4:]], outcomes, 0.1, 0.05)
    assert (lapsed.watch.audited, lapsed.lapsed, lapsed.declined, lapsed.behind) == (3, 1, 1, 0)
    assert lapsed.answer_rate == pytest.approx(5 / 6)


def test_a_lower_probability_later_leaves_earlier_bets_as_they_were() -> None:
    """The reading equals that of a watch whose floor was lowered in time.

    Answers are weighted by 1 / probability.
    """
    audits = [audit(n, 0.5) for n in range(20)] + [audit(n, 0.1) for n in range(20, 40)]
    outcomes: dict[int, Outcome] = {n: "hallucinated" if n < 20 else "supported" for n in range(40)}
    found = audit_reading(audits, outcomes, 0.1, 0.05)
    assert found.watch.rate == pytest.approx(40 / 240)
    alone = RateWatch(0.1, 0.05, 0.5)
    for _ in range(20):
        alone.add(True, 0.5)
    assert (
        found.watch.most == pytest.approx(alone.reading.most) and found.watch.raised_after == alone.reading.raised_after
    )


def test_without_an_alpha_there_is_a_sequence_and_no_alarm() -> None:
    audits = [audit(n) for n in range(50)]
    found = audit_reading(audits, dict.fromkeys(range(50), "hallucinated"), None, 0.05)
    assert not found.watch.raised and found.watch.log_capital == 0.0 and found.watch.lower > 0.8
    same = audit_reading(audits, dict.fromkeys(range(50), "hallucinated"), 0.5, 0.05)
    assert (same.watch.lower, same.watch.upper) == (found.watch.lower, found.watch.upper)
