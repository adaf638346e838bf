"""The draw of an audit is reproducible, uniform, and has the recorded probability."""

from __future__ import annotations

import uuid

import pytest

from evaluation.audits.audit import Audit, AuditContent, audited_sample, check_audit_rate, is_drawn
from evaluation.errors import EvaluationError

IDS = [uuid.UUID(int=number * 7919).hex for number in range(4000)]


def test_the_share_drawn_is_the_rate() -> None:
    """4,000 fixed IDs. For random IDs, a deviation of more than 4.5 standard errors has probability below 0.00001."""
    for rate in (0.05, 0.5, 0.9):
        share = sum(is_drawn(one, rate) for one in IDS) / len(IDS)
        assert abs(share - rate) < 4.5 * (rate * (1 - rate) / len(IDS)) ** 0.5
    assert all(is_drawn(one, 1.0) for one in IDS) and not any(is_drawn(one, 0.0) for one in IDS)


def test_a_lower_rate_draws_a_part_of_a_higher_one() -> None:
    assert all(is_drawn(one, 0.6) for one in IDS if is_drawn(one, 0.3))


def test_samples_are_drawn_uniformly_and_apart_from_the_query() -> None:
    drawn = [one for one in IDS if is_drawn(one, 0.5)]
    counts = [sum(audited_sample(one, 4) == place for one in drawn) for place in range(4)]
    assert sum(counts) == len(drawn) and min(counts) > 0.2 * len(drawn)
    assert {audited_sample(one, 1) for one in IDS} == {0}


@pytest.mark.parametrize("rate", [0.0, 0.0001, 1.0])
def test_rates_that_can_be(rate: float) -> None:
    assert check_audit_rate(rate) == rate


@pytest.mark.parametrize("rate", [-1.0, 0.00009, 1.0001, float("nan"), float("inf")])
def test_rates_that_cannot_be(rate: float) -> None:
    with pytest.raises(EvaluationError, match="audit rate"):
        check_audit_rate(rate)


def test_an_audit_has_a_probability() -> None:
    content = AuditContent("q", "", "a", (), "m", "g", "")
    with pytest.raises(EvaluationError, match="probability is 0"):
        Audit("id", "notes", "", "none", 0.0, True, None, content)
