"""--fail-if: meaning of conditions, and that a gate fails if nothing was measured."""

from __future__ import annotations

import pytest

from app.errors import UsageError
from app.gate import apply_gate, check_names, figure_names, parse_gate, summary_figures
from evaluation.outcomes import Outcome
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import summarise


def summary(**arms: str) -> RunSummary:
    """Return a summary of arms with one outcome per question, given by its first letter."""
    letters: dict[str, Outcome] = {"h": "hallucinated", "s": "supported", "a": "abstained", "u": "unscored"}
    records = [OutcomeRecord(str(i), arm, 0, letters[c]) for arm, row in arms.items() for i, c in enumerate(row)]
    pairs = [tuple(arms)] if len(arms) == 2 else []
    return summarise(OutcomeTable.from_records(records), next(iter(arms)), pairs, Settings(bootstrap=100))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("hall_all.rate > 0.24", True),
        ("hall_all > 0.25", False),
        ("hall_all >= 25%", True),
        ("hall_all.upper > 0.10", True),
        ("hall_all.upper > 0.99", False),
        ("hall_all.rate > 0.9 or hall_rag.rate > 0.1", True),
        ("hall_all.rate > 0.1 and hall_rag.rate > 0.9", False),
        ("hall_all.rate > 0.9 or hall_rag.rate > 0.1 and supported.rate < 1", True),
        ("hall_all.questions < 30", True),
        ("unscored.rate != 0", False),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    figures = summary_figures(summary(rag="hsss"))
    assert apply_gate(parse_gate(condition), figures).failed is holds


def test_a_figure_that_is_undefined_counts_as_missed() -> None:
    figures = summary_figures(summary(rag="aa"))
    result = apply_gate(parse_gate("hall_answered.upper > 0.5"), figures)
    assert result.failed
    assert "undefined" in result.reasons[0]
    assert not apply_gate(parse_gate("hall_all.rate > 0.5"), figures).failed


@pytest.mark.parametrize(
    "text",
    ["", "hall_all", "hall_all.upper", "> 0.1", "hall.upper > x", "a > 1 or", "__import__('os') > 1", "a.b.c > 1"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="condition"):
        parse_gate(text)


def test_unknown_names_and_fields_are_listed() -> None:
    with pytest.raises(UsageError, match=r"'high'.*rate, lower"):
        parse_gate("hall_all.high > 1")
    with pytest.raises(UsageError, match=r"'hall_raq'.*hall_all, .*hall_rag"):
        apply_gate(parse_gate("hall_raq > 1"), summary_figures(summary(rag="hs")))


def test_names_are_known_before_the_run_and_differ() -> None:
    found = summary_figures(summary(**{"a b": "hs", "a-b": "ss"}))
    assert {"hall_a_b", "hall_a_b_2", "diff_a_b_a_b_2"} <= found.keys()
    assert "hall_all" not in found
    assert tuple(found) == figure_names(["a b", "a-b"], [("a b", "a-b")])
    assert tuple(summary_figures(summary(rag="h"))) == figure_names(["rag"], [])
    check_names(parse_gate("diff_a_b_a_b_2.lower < 0"), found)
    assert found["diff_a_b_a_b_2"].rate == 0.5
