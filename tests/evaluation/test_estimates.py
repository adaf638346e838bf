"""An estimate is a number with ordered limits, or nothing with a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable, shares
from evaluation.statistics.estimates import HallucinationEstimate, undefined


def estimate(rate: float | None, lower: float | None, upper: float | None, reason: str = "") -> HallucinationEstimate:
    return HallucinationEstimate(rate, lower, upper, 0.95, 3, 3, 1, 2, "bca", reason=reason)


def test_undefined_is_none_with_a_reason() -> None:
    nothing = undefined(0.95, "no answers")
    assert nothing.rate is None and not nothing.defined and nothing.reason == "no answers"
    with pytest.raises(ValueError, match="reason"):
        estimate(None, None, None)
    with pytest.raises(ValueError, match="None"):
        estimate(0.5, None, None, "x")


@pytest.mark.parametrize("values", [(0.5, 0.6, 0.7), (math.nan, 0.0, 1.0), (0.5, 0.1, 1.5)])
def test_limits_that_make_no_sense_are_refused(values: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        estimate(*values)


def test_unreliable_must_say_why() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        HallucinationEstimate(0.5, 0.1, 0.9, 0.95, 3, 3, 1, 2, "bca", reliable=False)


def test_counts_by_arm_and_question() -> None:
    table = OutcomeTable.from_records(
        [
            OutcomeRecord("b", "rag", 0, "supported"),
            OutcomeRecord("a", "rag", 0, "hallucinated"),
            OutcomeRecord("a", "rag", 1, "abstained"),
            OutcomeRecord("a", "closed_book", 0, "unscored"),
        ]
    )
    assert [a.arm for a in table.arms] == ["rag", "closed_book"]
    rag = table.arm("rag")
    assert rag.question_ids == ("a", "b")
    assert rag.questions[0].counts == (1, 0, 1, 0) and rag.questions[0].samples == 2
    assert np.array_equal(rag.matrix(["b"]), [[0, 1, 0, 0]])
    assert np.array_equal(shares(rag.matrix()), [[0.5, 0, 0.5, 0], [0, 1, 0, 0]])


def test_a_sample_counted_twice_an_unknown_outcome_and_an_empty_run_are_refused() -> None:
    record = OutcomeRecord("a", "rag", 0, "supported")
    with pytest.raises(EvaluationError, match=r"0.*'a'.*'rag'.*twice"):
        OutcomeTable.from_records([record, record])
    with pytest.raises(EvaluationError, match=r"'true'.*hallucinated, supported"):
        OutcomeTable.from_records([OutcomeRecord("a", "rag", 0, "true")])  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="no outcome"):
        OutcomeTable.from_records([])
    with pytest.raises(EvaluationError, match=r"'oracle'.*rag"):
        OutcomeTable.from_records([record]).arm("oracle")
