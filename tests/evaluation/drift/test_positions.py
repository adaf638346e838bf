"""Position curves, the first unsupported claim, the trend, and forced drift."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.drift.forced import Continuation, Planted, forced_drift
from evaluation.drift.positions import first_unsupported, never_unsupported, position_trend, unsupported_by_position
from evaluation.drift.sequences import ClaimSequence, to_arrays
from evaluation.errors import EvaluationError
from evaluation.statistics.measure import Resampler, Settings


def resampler() -> Resampler:
    return Resampler(Settings(bootstrap=300, permutations=99))


def test_shares_by_position_and_the_first() -> None:
    rows = [(False, True, True), (True, False), (False, False, None), (False, False, False)]
    sequences = to_arrays([ClaimSequence(f"q{i}", row) for i, row in enumerate(rows)])
    curve = unsupported_by_position(sequences, resampler())
    assert curve.band.rates == (pytest.approx(1 / 4), pytest.approx(1 / 4), pytest.approx(1 / 2))
    assert curve.responses == (4, 4, 2) and curve.questions == (4, 4, 2)
    hazard = first_unsupported(sequences, resampler())
    assert hazard.band.rates == (pytest.approx(1 / 4), pytest.approx(1 / 3), pytest.approx(0.0))
    assert hazard.responses == (4, 3, 1)
    assert never_unsupported(hazard) == (pytest.approx(3 / 4), pytest.approx(1 / 2), pytest.approx(1 / 2))
    for low, rate, high in zip(curve.band.lower, curve.band.rates, curve.band.upper, strict=True):
        assert low is not None and rate is not None and high is not None and low < rate < high


def test_longer_responses_that_are_worse_make_no_trend() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for i in range(60):
        length = 3 if i % 2 else 9
        rows.append(ClaimSequence(f"q{i:02d}", tuple(bool(v) for v in rng.random(length) < (0.1 if i % 2 else 0.6))))
    trend = position_trend(to_arrays(rows), resampler())
    assert trend.lower is not None and trend.upper is not None and trend.lower < 0 < trend.upper
    one = position_trend(to_arrays([ClaimSequence("a", (True,))]), resampler())
    assert one.slope is None and one.reason


def planted(effect: float, questions: int = 80) -> list[Continuation]:
    rng = np.random.default_rng(6)
    out = []
    kinds: tuple[tuple[Planted, float], ...] = (("false", effect), ("true", 0.0), ("none", 0.0))
    for q in range(questions):
        own = rng.beta(2, 4)
        for kind, extra in kinds:
            unsupported = tuple(bool(v) for v in rng.random(5) < own + extra)
            # The first later claim only restates the planted one, so it is as false or true as that one.
            out.append(Continuation(f"q{q:02d}", kind, (kind == "false", *unsupported), (True, *(False,) * 5)))
    return out


def test_the_forced_effect_is_paired_and_leaves_out_what_follows() -> None:
    found = forced_drift(planted(0.3), resampler())
    assert found.questions == 80 and found.excluded == 240
    effect = found.effect.default
    assert effect.rate == pytest.approx(0.3, abs=0.1) and effect.lower is not None and effect.lower > 0
    assert found.test is not None and found.test.p_value == 0.01
    assert found.unforced.default.rate == pytest.approx(found.after_true.default.rate, abs=0.1)


def test_a_restated_falsehood_alone_is_no_effect() -> None:
    found = forced_drift(planted(0.0), resampler())
    effect = found.effect.default
    # A 95 % interval excludes a true 0 for one seed in twenty, but not for this seed.
    assert effect.lower is not None and effect.upper is not None and effect.lower < 0 < effect.upper
    assert "not marked would itself cause a difference" in found.reading


def test_forced_on_different_questions_is_refused() -> None:
    with pytest.raises(EvaluationError, match="both"):
        forced_drift(
            [Continuation("a", "false", (True,), (False,)), Continuation("b", "true", (True,), (False,))], resampler()
        )
    one = [Continuation("a", k, (None,), (False,)) for k in ("false", "true")]
    found = forced_drift(one, resampler())
    assert found.effect.default.rate is None and found.test is None and found.unscored == 2
    assert "no unforced" in found.unforced.default.reason
    with pytest.raises(ValueError, match="marks"):
        Continuation("a", "true", (True,), ())
