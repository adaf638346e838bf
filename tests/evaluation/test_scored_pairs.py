"""Unscored responses are evidence for neither arm: differences rest on pairs of scored responses, or are undefined."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from app.gate import apply_gate, parse_gate, summary_figures
from evaluation.gating.baseline import Baseline, Counts
from evaluation.gating.formats import to_json, to_junit, to_markdown
from evaluation.gating.regression import Compared, GateReport, compare_to_baseline
from evaluation.outcomes import Outcome
from evaluation.reports.report import render_report
from evaluation.reports.tabular import as_csv, as_json, as_markdown
from evaluation.statistics.bands import difference_band
from evaluation.statistics.measure import Resampler
from evaluation.statistics.scored_pairs import effective_responses, paired_outcomes
from tests.evaluation.test_first_screen import report
from tests.evaluation.test_summary import QUICK, summary


def test_an_arm_that_is_wholly_unscored_is_no_better_than_another() -> None:
    pair = summary(closed_book=["hh"] * 36 + ["ss"] * 4, oracle=["uu"] * 40).pairs[0]
    for measured in (pair.difference, pair.fixed, pair.broken):
        assert measured.default.rate is None and "scored" in measured.default.reason
    assert (pair.test, pair.p_holm, pair.fixed_questions, pair.broken_questions) == (None, None, None, None)
    assert (pair.questions, pair.unscored, pair.scored_share, pair.changes) == (0, 40, 0.0, ())
    assert (pair.bounds.low, pair.bounds.high) == pytest.approx((-0.1, 0.9))
    assert sum(v for row in pair.transitions for v in row) == pytest.approx(1.0)


def test_questions_without_a_scored_response_in_both_arms_are_left_out() -> None:
    mixed = summary(closed_book=["hh", "hs", "ss", "uu", "hh"], rag=["ss", "hs", "hh", "hh", "uu"]).pairs[0]
    plain = summary(closed_book=["hh", "hs", "ss"], rag=["ss", "hs", "hh"]).pairs[0]
    assert (mixed.questions, mixed.unscored, plain.unscored) == (3, 2, 0)
    assert (mixed.difference, mixed.fixed, mixed.broken) == (plain.difference, plain.fixed, plain.broken)
    assert mixed.test == plain.test and mixed.changes == plain.changes
    assert mixed.scored_share == pytest.approx(3 / 5)


def test_cross_pairs_count_by_what_is_scored_of_them() -> None:
    pair = summary(closed_book=["hu", "ss"], rag=["su", "hs"]).pairs[0]
    # The first question has 1 of 4 cross-pairs scored, fixed; the second 4, of which 2 are broken.
    assert pair.fixed.default.rate == pytest.approx(0.25 / 1.25)
    assert pair.broken.default.rate == pytest.approx(0.5 / 1.25)
    assert pair.difference.default.rate == pytest.approx(-0.25 / 1.25)
    assert pair.difference.default.responses == 6


def test_an_untested_pair_stays_in_the_declared_family() -> None:
    run = summary(closed_book=["h"] * 20, rag=["s"] * 8 + ["h"] * 12, oracle=["u"] * 20)
    tested = run.pairs[0]
    assert tested.test is not None and [p.p_holm for p in run.pairs[1:]] == [None, None]
    assert tested.p_holm == pytest.approx(min(1.0, 3 * tested.test.p_value))


def test_nothing_unscored_gives_the_plain_difference_of_the_shares() -> None:
    rng = random.Random(3)
    one, two = (["".join(rng.choice("hsa") for _ in range(rng.randint(1, 4))) for _ in range(50)] for _ in range(2))
    run = summary(closed_book=one, rag=two)
    first, second = (arm.hallucinated.default.rate or 0.0 for arm in run.arms)
    assert run.pairs[0].difference.default.rate == pytest.approx(first - second)
    assert run.pairs[0].scored_share == 1.0


def test_effective_responses_is_the_mean_of_shares_one_for_equal_weights() -> None:
    assert effective_responses(np.ones(4), np.array([1.0, 2.0, 4.0, 4.0])) == pytest.approx(16 / 2.0)
    assert effective_responses(np.full(5, 0.25), np.full(5, 3.0)) == pytest.approx(15.0)
    empty = paired_outcomes(np.array([[0, 0, 0, 2.0]]), np.array([[1.0, 1, 0, 0]]))
    assert empty.independent == 0.0 and not empty.used.any()


def test_a_condition_on_an_undefined_difference_fails_the_gate() -> None:
    figures = summary_figures(summary(closed_book=["h"] * 9, oracle=["u"] * 9))
    gate = parse_gate("diff_closed_book_oracle < -0.5")
    assert apply_gate(gate, figures).failed


def test_the_headline_is_the_rate_among_scored() -> None:
    arm = summary(rag=["h", "s", "u", "u"]).arms[0]
    assert (arm.headline.default.rate, arm.hallucinated.default.rate) == (0.5, 0.25)
    assert summary(rag=["uu"]).arms[0].headline.default.rate is None
    clean = summary(rag=["hs", "s"]).arms[0]
    assert clean.headline == clean.hallucinated


def test_every_format_says_undefined_and_how_many_were_left_out() -> None:
    lost: list[Outcome] = ["unscored"] * 9
    data = report({"closed_book": ["hallucinated"] * 9, "oracle": lost}, "no evidence was found")
    json.dumps(as_json(data), allow_nan=False)
    difference = next(row for row in as_csv(data).splitlines() if row.startswith("difference,closed_book,oracle,hall"))
    assert ",,,," in difference and "scored response" in difference
    for text in (as_markdown(data), render_report(data)):
        assert "9 left out: unscored" in text and "undefined" in text
        assert "hallucinates less than" not in text


def test_a_band_leaves_out_unscored_cells() -> None:
    h1, h2 = np.full((30, 2), 0.9), np.zeros((30, 2))
    r2 = np.stack([np.ones(30), np.zeros(30)], axis=1)
    band = difference_band(h1, h2, 30.0, Resampler(QUICK), (np.ones((30, 2)), r2))
    assert band.rates[0] == pytest.approx(0.9) and band.rates[1] is None and band.reasons[1]
    same = difference_band(h1, h2, 30.0, Resampler(QUICK), (np.ones((30, 2)), np.ones((30, 2))))
    assert same == difference_band(h1, h2, 30.0, Resampler(QUICK))


H: Counts = (1, 0, 0, 0)
S: Counts = (0, 1, 0, 0)
U: Counts = (0, 0, 0, 1)


def _gate(before: list[Counts], after: list[Counts]) -> dict[str, Compared]:
    rows, now = ({f"q{i}": c for i, c in enumerate(counts)} for counts in (before, after))
    premises: dict[str, str] = {}
    estimates: dict[str, Any] = {"rag": {}}
    baseline = Baseline("r1", "2026-01-01T00:00:00", premises, dict.fromkeys(rows, "x"), {"rag": rows}, estimates)
    found = compare_to_baseline(baseline, {"rag": now}, dict.fromkeys(rows, "x"), level=0.95, margin=0.0)
    return {one.quantity: one for one in found}


def test_a_gate_does_not_open_for_a_run_that_was_not_scored() -> None:
    found = _gate([H] * 5 + [S] * 15, [U] * 20)["hallucinated"]
    assert found.regressed and found.change is None and found.reason and found.unscored == 20
    gate = GateReport("r2", "r1", 0.95, 0.0, (), (), (found,))
    assert gate.failed and "not measured" in to_markdown(gate) and "cannot be compared" in to_junit(gate)
    json.dumps(to_json(gate), allow_nan=False)


def test_unscored_responses_do_not_hide_a_regression() -> None:
    """Ten of the twenty that can be judged got worse; before, the other twenty counted as free of hallucinations."""
    found = _gate([H] * 20 + [S] * 20, [U] * 20 + [H] * 10 + [S] * 10)["hallucinated"]
    assert found.regressed and (found.questions, found.unscored) == (20, 20)
    assert (found.before, found.after, found.change) == (0.0, 0.5, 0.5)
