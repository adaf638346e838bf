"""An arm and a pair have one uncorrected figure: the summary's, over all their questions."""

from __future__ import annotations

import pytest

from evaluation.correction.corrected_figures import CorrectedFigures, figures_of
from evaluation.correction.label_progress import progress_of, wanted_items
from evaluation.correction.label_store import StoredDraw, StoredLabel
from evaluation.correction.sampling import draw_labels
from evaluation.correction.uncorrected import NOT_COMPARED
from evaluation.reports.corrected_view import corrected_rows, notes_of
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.run_summary import RunSummary
from evaluation.statistics.summary import summarise

ARMS = ("closed_book", "rag", "oracle")
QUICK = Settings(bootstrap=100, permutations=99)


def records(oracle_questions: int) -> list[OutcomeRecord]:
    """Return 40 questions, of which only the first ones have the oracle arm. Arms differ more among the others."""
    found = []
    for q in range(40):
        bad = {"closed_book": q % 3 > 0, "rag": q % 4 == 0 and q < 20, "oracle": q % 8 == 0}
        for arm in ARMS[: 3 if q < oracle_questions else 2]:
            for sample in range(2):
                outcome = "hallucinated" if bad[arm] and (sample or q % 2) else "supported"
                found.append(OutcomeRecord(f"q{q:02d}", arm, sample, outcome))
    return found


def figures(found: list[OutcomeRecord], summary: RunSummary, arms: tuple[str, ...] = ARMS) -> CorrectedFigures:
    stored = StoredDraw(draw_labels(found, arms, 12, 3), "d", 12)
    verdicts = {(r.question_id, r.arm, r.sample): r.outcome for r in found}
    labels = [StoredLabel(key, "ann", verdicts[key]) for key in wanted_items(stored)]
    return figures_of(found, stored, progress_of(stored, labels), summary=summary)


@pytest.mark.parametrize("oracle_questions", [40, 25])
def test_the_uncorrected_figures_are_the_summarys(oracle_questions: int) -> None:
    found = records(oracle_questions)
    summary = summarise(OutcomeTable.from_records(found), settings=QUICK)
    corrected = figures(found, summary)
    assert corrected.run is not None and len(corrected.run.pairs) == len(summary.pairs) == 3
    for arm, plain in zip(corrected.run.arms, summary.arms, strict=True):
        assert arm.hallucinated.uncorrected == plain.hallucinated.default
        assert arm.answered.uncorrected == plain.hall_answered.default
    for pair, compared in zip(corrected.run.pairs, summary.pairs, strict=True):
        assert pair.difference.uncorrected == compared.difference.default
        assert pair.difference.labels_only.questions == oracle_questions
    notes = " ".join(notes_of(corrected))
    assert ("closed_book − rag 40, corrected 25" in notes) == (oracle_questions == 25)
    assert ("Uncorrected figures are" in notes) == (oracle_questions == 25)


def test_questions_apart_are_in_no_difference_whichever_table_shows_it() -> None:
    found = records(40)
    summary = summarise(OutcomeTable.from_records(found), settings=QUICK, excluded={f"q{q:02d}" for q in range(20, 40)})
    corrected = figures(found, summary)
    rows = {(row.arm, row.against): row for row in corrected_rows(corrected.run) if row.against}  # type: ignore[arg-type]
    for pair in summary.pairs:
        uncorrected = rows[pair.baseline, pair.other].uncorrected
        assert (uncorrected, uncorrected.questions) == (pair.difference.default, 20)
    assert "closed_book − rag 20, corrected 40" in " ".join(notes_of(corrected))


def test_a_pair_that_the_run_does_not_compare_has_no_uncorrected_difference() -> None:
    found = records(40)
    summary = summarise(OutcomeTable.from_records(found), pairs=[("closed_book", "rag")], settings=QUICK)
    corrected = figures(found, summary, ("closed_book", "oracle"))
    assert corrected.run is not None
    uncorrected = corrected.run.pairs[0].difference.uncorrected
    assert (uncorrected.rate, uncorrected.reason) == (None, NOT_COMPARED)
