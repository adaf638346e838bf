"""A run's summary by hand, its edges, and that it depends on nothing but counts and settings."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest

from evaluation.errors import EvaluationError
from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import default_pairs, summarise

QUICK = Settings(bootstrap=200, permutations=199)
LETTERS: dict[str, Outcome] = {"h": "hallucinated", "s": "supported", "a": "abstained", "u": "unscored"}


def records(**arms: list[str]) -> list[OutcomeRecord]:
    """One string of letters a question: records(rag=["hs", "aa"]) is two questions of two samples."""
    return [
        OutcomeRecord(f"q{i:03}", arm, sample, LETTERS[letter])
        for arm, questions in arms.items()
        for i, letters in enumerate(questions)
        for sample, letter in enumerate(letters)
    ]


def summary(**arms: list[str]) -> RunSummary:
    return summarise(OutcomeTable.from_records(records(**arms)), settings=QUICK)


def test_rates_of_one_arm_by_hand() -> None:
    arm = summary(rag=["hhsa", "ssss", "hauu", "aaaa"]).arms[0]
    assert (arm.questions, arm.responses, arm.fewest_samples, arm.most_samples) == (4, 16, 4, 4)
    rates = [m.default.rate for m in (arm.hallucinated, arm.supported, arm.abstained, arm.unscored)]
    assert rates == pytest.approx([3 / 16, 5 / 16, 6 / 16, 2 / 16])
    assert arm.hall_answered.default.rate == pytest.approx(3 / 8)
    assert arm.hall_answered.default.questions == 3 and arm.hall_answered.default.responses == 8
    assert arm.hall_scored.default.rate == pytest.approx(3 / 14)
    assert arm.hall_if_unscored_supported.rate == pytest.approx(3 / 16)
    assert arm.hall_if_unscored_hallucinated.rate == pytest.approx(5 / 16)


def test_a_pair_by_hand() -> None:
    pair = summary(closed_book=["hh", "hs", "ss", "aa"], rag=["ss", "hh", "hs", "uh"]).pairs[0]
    # Per question h_closed (1 - h_rag): 1, 0, 0, 0; the reverse: 0, 1/2, 1/2, 1/2.
    assert (pair.fixed_questions, pair.broken_questions) == pytest.approx((1.0, 1.5))
    # The last question's unscored response leaves half of its cross-pairs: 3.5 of 4.
    assert (pair.questions, pair.unscored, pair.scored_share) == (4, 0, pytest.approx(3.5 / 4))
    assert pair.difference.default.rate == pytest.approx(-0.5 / 3.5)
    assert (pair.fixed.default.rate, pair.broken.default.rate) == pytest.approx((1 / 3.5, 1.5 / 3.5))
    # Unscored is 1/2 of one of four questions in rag: if hallucinated, rag is worse by 1/8.
    assert (pair.bounds.low, pair.bounds.high) == pytest.approx((-0.25, -0.125))
    flat = [v for row in pair.transitions for v in row]
    assert sum(flat) == pytest.approx(1.0)
    assert pair.transitions[0][1] == pytest.approx((1 * 1 + 0.5 * 0) / 4)
    assert pair.transitions[2][3] == pytest.approx(0.5 / 4)
    assert [c.question_id for c in pair.changes] == ["q001", "q002", "q003", "q000"]
    # Answered: closed 3 of 6, rag 4 of 7.
    assert pair.answered_difference.default.rate == pytest.approx(3 / 6 - 4 / 7)
    both = pair.both_answered
    # Cross-pairs that both answered: q0, q1, q2 wholly, q3 not at all.
    assert both.pairs_share == pytest.approx(3 / 4)
    assert (both.baseline.default.rate, both.other.default.rate) == pytest.approx((1.5 / 3, 1.5 / 3))
    assert (both.fixed.default.rate, both.broken.default.rate) == pytest.approx((1 / 3, 1 / 3))


def test_an_arm_that_never_answers_has_undefined_rates_not_zero() -> None:
    run = summary(closed_book=["hh", "ss"], rag=["aa", "aa"])
    rag, pair = run.arms[1], run.pairs[0]
    assert rag.hall_answered.default.rate is None and rag.hall_answered.default.reason
    assert rag.hallucinated.default.rate == 0.0 and (rag.hallucinated.default.upper or 0) > 0.5
    assert pair.answered_difference.default.rate is None
    assert pair.both_answered.difference.default.rate is None
    text = json.dumps(run.to_json(), allow_nan=False)
    assert '"rate": null' in text


def test_all_unscored_has_no_rate_among_scored_and_bounds_from_zero_to_one() -> None:
    arm = summary(rag=["uu", "uu", "uu"]).arms[0]
    assert arm.hall_scored.default.rate is None
    assert (arm.hall_if_unscored_supported.rate, arm.hall_if_unscored_hallucinated.rate) == (0.0, 1.0)


def test_swapping_the_arms_mirrors_everything() -> None:
    rng = random.Random(4)
    one, two = (["".join(rng.choice("hsau") for _ in range(3)) for _ in range(30)] for _ in range(2))
    table = OutcomeTable.from_records(records(x=one, y=two))
    there = summarise(table, pairs=[("x", "y")], settings=QUICK).pairs[0]
    back = summarise(table, pairs=[("y", "x")], settings=QUICK).pairs[0]
    for a, b in ((there.difference, back.difference), (there.answered_difference, back.answered_difference)):
        assert a.default.rate == pytest.approx(-(b.default.rate or 0))
        assert a.default.lower == pytest.approx(-(b.default.upper or 0))
        assert a.clustered_t.lower == pytest.approx(-(b.clustered_t.upper or 0))
    assert there.fixed.default == back.broken.default
    assert there.test and back.test and there.test.p_value == back.test.p_value
    for row, column in zip(there.transitions, zip(*back.transitions, strict=True), strict=True):
        assert row == pytest.approx(column)


def test_the_order_of_records_does_not_matter() -> None:
    rng = random.Random(1)
    made = records(closed_book=["hs", "ha", "ss"] * 5, rag=["ss", "sa", "hu"] * 5)
    shuffled = made[:]
    rng.shuffle(shuffled)
    first, again = (summarise(OutcomeTable.from_records(r), settings=QUICK) for r in (made, shuffled))
    assert sorted(first.arms, key=lambda a: a.arm) == sorted(again.arms, key=lambda a: a.arm)
    assert first.pairs == again.pairs


def test_unequal_samples_and_missing_questions_are_counted_and_said() -> None:
    run = summary(closed_book=["hhhh", "s", "s"], rag=["ss", "ss"])
    closed, pair = run.arms[0], run.pairs[0]
    assert (closed.fewest_samples, closed.most_samples) == (1, 4)
    assert closed.hallucinated.default.rate == pytest.approx(1 / 3)
    assert (pair.questions, pair.left_out) == (2, 1)
    assert pair.difference.default.rate == pytest.approx(0.5)


def test_the_family_is_declared_by_the_arms_and_corrected_by_holm() -> None:
    assert default_pairs(["closed_book", "rag", "oracle"], "closed_book") == (
        ("closed_book", "rag"),
        ("closed_book", "oracle"),
        ("rag", "oracle"),
    )
    assert default_pairs(["rag"], "closed_book") == ()
    run = summary(closed_book=["h"] * 20, rag=["s"] * 10 + ["h"] * 10, oracle=["s"] * 20)
    p = [pair.test.p_value for pair in run.pairs if pair.test]
    assert len(run.pairs) == 3
    assert max(pair.p_holm or 0.0 for pair in run.pairs) >= max(p)
    assert run.pairs[0].p_holm == pytest.approx(min(1.0, 3 * min(p)), abs=2 * min(p))


def test_impossible_pairs_are_refused() -> None:
    table = OutcomeTable.from_records(
        [OutcomeRecord("a", "x", 0, "supported"), OutcomeRecord("b", "y", 0, "supported")]
    )
    with pytest.raises(EvaluationError, match="in common"):
        summarise(table, pairs=[("x", "y")])
    with pytest.raises(EvaluationError, match="itself"):
        summarise(table, pairs=[("x", "x")])
    with pytest.raises(EvaluationError, match="'z'"):
        summarise(table, pairs=[("x", "z")])


def test_tiny_and_degenerate_runs_have_finite_intervals() -> None:
    for one, two in product(["h", "s", "a", "u", "hs", "ha", "au"], repeat=2):
        run = summary(closed_book=[one], rag=[two], oracle=[one])
        for arm in run.arms:
            assert sum(getattr(arm, o).default.rate for o in OUTCOMES) == pytest.approx(1.0)
        json.dumps(run.to_json(), allow_nan=False)
        for pair in run.pairs:
            found = pair.difference.default
            if found.lower is None or found.upper is None:
                assert pair.unscored == 1 and found.reason
            else:
                assert found.lower < found.upper


def test_flags_below_ten_questions_on_either_side() -> None:
    few = summary(rag=["h"] * 9 + ["s"] * 41).arms[0].hallucinated
    assert not few.bca.reliable and not few.clustered_t.reliable and few.default.reliable
    many = summary(rag=["h"] * 41 + ["s"] * 9).arms[0].hallucinated
    assert not many.bca.reliable and "without" in many.bca.reason
    assert summary(rag=["h"] * 25 + ["s"] * 25).arms[0].hallucinated.bca.reliable


def test_settings_are_checked() -> None:
    for bad in ({"level": 1.0}, {"bootstrap": 10}, {"permutations": 1}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Settings(**bad)  # type: ignore[arg-type]


def test_an_arm_stands_against_the_one_with_fewer_modifiers() -> None:
    arms = ("closed_book", "rag", "rag+injection", "rag+injection+sycophancy", "oracle+position:1", "oracle")
    assert default_pairs(arms, "closed_book") == (
        ("closed_book", "rag"),
        ("rag", "rag+injection"),
        ("rag+injection", "rag+injection+sycophancy"),
        ("oracle", "oracle+position:1"),
        ("closed_book", "oracle"),
        ("rag", "oracle"),
    )
    assert default_pairs(("rag", "rag+injection"), "closed_book") == (("rag", "rag+injection"),)
    assert default_pairs(("closed_book", "few+a", "rag+b"), "closed_book") == (
        ("closed_book", "few+a"),
        ("closed_book", "rag+b"),
    )
