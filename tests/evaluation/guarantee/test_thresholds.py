"""Fixed-sequence testing, grids, conformal thresholds and curves on answers with known counts."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.guarantee.answers import NO_SCORE, LabelledAnswers, answer_score, labelled_answers
from evaluation.guarantee.conformal import conformal_threshold
from evaluation.guarantee.curves import clopper_pearson, rate_curve
from evaluation.guarantee.exact import exceedance_p_value
from evaluation.guarantee.thresholds import fixed_sequence, start_share, threshold_grid
from evaluation.outcomes import AnswerEvaluation, Claim, Verdict


def answers(n: int, wrong_below: float, seed: int = 0, samples: int = 1) -> LabelledAnswers:
    """Return answers with uniform scores that are hallucinated exactly if the score is below ``wrong_below``."""
    score = np.random.default_rng(seed).random(n * samples)
    question = np.repeat(np.arange(n), samples)
    return LabelledAnswers(question, score, score < wrong_below, np.zeros(n * samples, dtype=np.bool_))


def test_the_loosest_threshold_before_the_first_failure_is_chosen() -> None:
    found = fixed_sequence(answers(400, 0.3), (0.8, 0.6, 0.4, 0.2, 0.0), 0.1, 0.05)
    assert found.test == "exact_binomial"
    assert [t.passed for t in found.tests] == [True, True, True, False, False]
    assert found.chosen is not None and found.chosen.threshold == 0.4
    assert found.tests[3].p_value is not None and found.tests[3].p_value > 0.05
    assert found.tests[4].p_value is None
    first = found.tests[0]
    assert first.p_value == pytest.approx(float(exceedance_p_value(first.hallucinated, first.answered, 0.1)))


def test_a_later_threshold_never_passes_after_a_failure_even_where_its_rate_is_lower() -> None:
    # The rate falls as the threshold falls: answers are right below 0.5 and wrong above. The test permits this.
    score = np.linspace(0.0, 1.0, 400)
    odd = LabelledAnswers(np.arange(400), score, score > 0.9, np.zeros(400, dtype=np.bool_))
    found = fixed_sequence(odd, (0.85, 0.0), 0.2, 0.05)
    assert float(exceedance_p_value(found.tests[1].hallucinated, found.tests[1].answered, 0.2)) < 0.05
    assert found.chosen is None and found.tests[1].p_value is None


def test_unscored_labels_count_as_hallucinated_and_declined_answers_as_none() -> None:
    found = labelled_answers(
        ["a", "b", "c", "d", "e"],
        [0.9, 0.9, 0.9, None, 0.1],
        ["unscored", "abstained", "supported", "supported", "hallucinated"],
    )
    row = fixed_sequence(found, (0.5,), 0.1, 0.05).tests[0]
    assert (row.answered, row.hallucinated, row.answer_rate) == (2, 1, 0.4)


def test_several_samples_a_question_are_tested_by_betting_on_question_means() -> None:
    one, several = answers(150, 0.0), answers(150, 0.0, samples=3)
    assert not several.one_each and several.questions == 150
    exact, bets = (fixed_sequence(a, (0.5,), 0.1, 0.05) for a in (one, several))
    assert (exact.test, bets.test) == ("exact_binomial", "betting")
    assert bets.tests[0].answered > 150
    # 225 answers without a hallucination would give 0.9 ** 225; 150 questions may not.
    assert bets.tests[0].p_value is not None and bets.tests[0].p_value > 0.9**150


def test_ten_questions_certify_nothing_at_alpha_five_percent() -> None:
    found = fixed_sequence(answers(10, 0.0), (0.0,), 0.05, 0.05)
    assert found.chosen is None and found.tests[0].hallucinated == 0


@pytest.mark.parametrize("thresholds", [(), (0.2, 0.4), (0.5, 0.5), (1.2,), (float("nan"),)])
def test_thresholds_out_of_order_are_refused(thresholds: tuple[float, ...]) -> None:
    with pytest.raises(EvaluationError, match="threshold"):
        fixed_sequence(answers(20, 0.0), thresholds, 0.1, 0.05)


def test_a_grid_starts_where_enough_are_answered_and_ends_with_all() -> None:
    scores = np.random.default_rng(1).random(1000)
    scores[:100] = NO_SCORE
    grid = threshold_grid(scores, 200, 0.1, 0.05)
    assert list(grid) == sorted(set(grid), reverse=True)
    assert (scores >= grid[0]).mean() == pytest.approx(start_share(200, 0.1, 0.05), abs=0.01)
    assert grid[-1] == scores[scores > NO_SCORE].min()
    assert start_share(150, 0.1, 0.05) == 61 / 150
    assert start_share(600, 0.1, 0.05) == pytest.approx(1 / 3)
    assert threshold_grid(scores, 200, 0.1, 0.05, start=0.5)[0] == np.sort(scores)[::-1][499]
    assert start_share(30, 0.1, 0.05) == 1.0


def test_equal_scores_give_one_threshold_and_no_scores_none() -> None:
    assert threshold_grid(np.full(50, 0.7), 100, 0.1, 0.05) == (0.7,)
    with pytest.raises(EvaluationError, match="no answer has a score"):
        threshold_grid(np.full(50, NO_SCORE), 100, 0.1, 0.05)
    with pytest.raises(EvaluationError, match=r"1\.5"):
        threshold_grid(np.full(50, 1.5), 100, 0.1, 0.05)


def test_the_score_of_an_answer_is_its_least_supported_claim() -> None:
    def verdict(support: float | None) -> Verdict:
        label = "unscored" if support is None else "supported"
        return Verdict(Claim("x", 0, 1), label, support, "" if support else "no evidence", (), "v")

    assert answer_score(AnswerEvaluation("supported", (verdict(0.9), verdict(0.6)))) == 0.6
    assert answer_score(AnswerEvaluation("unscored", (verdict(0.9), verdict(None)), "why")) is None
    assert answer_score(AnswerEvaluation("abstained", ())) is None


def test_conformal_risk_control_bounds_hallucinated_and_answered_of_all() -> None:
    found = conformal_threshold(answers(199, 0.3), 0.1)
    assert found.threshold is not None and found.joint <= 0.1 * 200 / 199 - 1 / 199
    assert "E[H A]" in found.meaning
    assert conformal_threshold(answers(8, 0.5), 0.1).threshold is None
    assert conformal_threshold(answers(50, 0.0), 0.1).threshold == answers(50, 0.0).score.min()


def test_curves_have_wider_simultaneous_bands_and_areas() -> None:
    data = answers(300, 0.4)
    curve = rate_curve(data, (0.8, 0.5, 0.2, 0.0))
    assert [p.rate for p in curve.points][:2] == [0.0, 0.0]
    for point in curve.points:
        assert point.band_lower <= point.lower <= (point.rate or 0.0) <= point.upper <= point.band_upper
        assert point.band_upper > point.upper or point.upper == 1.0
    assert curve.area == pytest.approx(curve.best_area) and curve.area < (curve.random_area or 0.0)
    lower, upper = clopper_pearson(np.array([0.0, 0.0, 5.0]), np.array([0.0, 10.0, 5.0]), 0.95)
    assert lower[:2].tolist() == [0.0, 0.0] and upper[0] == 1.0 and upper[1] == pytest.approx(0.3085, abs=1e-4)
    assert upper[2] == 1.0 and 0.47 < lower[2] < 0.48
