"""The risk-coverage curve against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.reading.risk_coverage import risk_coverage


def test_the_curve_of_four_answers_by_hand() -> None:
    """Surest first: right, wrong, right, wrong; risks 0, 1/2, 1/3, 1/2."""
    found = risk_coverage([0.9, 0.8, 0.6, 0.1], [0.0, 1.0, 0.0, 1.0])
    assert found.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.best_area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert found.random_area == 0.5
    assert found.points[-1].coverage == 1.0
    assert found.points[-1].risk == 0.5
    assert found.points[-1].confidence == 0.1


def test_equal_confidences_are_accepted_together() -> None:
    """No order among ties may make the curve better than chance, whatever order they come in."""
    losses = [0.0, 0.0, 1.0, 1.0]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        found = risk_coverage([0.5] * 4, [losses[i] for i in order])
        assert found.area == pytest.approx(0.5)


def test_a_perfect_order_reaches_the_best_area() -> None:
    """Confidence that falls with the loss."""
    losses = np.random.default_rng(0).random(50)
    found = risk_coverage(list(-losses), list(losses))
    assert found.area == pytest.approx(found.best_area)
    assert found.area < found.random_area


def test_nothing_to_order() -> None:
    """No answers, or lengths that differ."""
    with pytest.raises(EvaluationError, match="0 confidences"):
        risk_coverage([], [])
    with pytest.raises(EvaluationError, match="2 confidences for 1"):
        risk_coverage([0.1, 0.2], [1.0])
