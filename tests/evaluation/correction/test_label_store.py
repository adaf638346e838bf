"""Draws and labels in the store, joint decisions of several people, and the completeness of a draw."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import delete, insert, update

from data.schema import label_draws, runs, samples
from data.store import Store
from evaluation.correction.corrected_figures import figures_of
from evaluation.correction.label_progress import progress_of, wanted_items
from evaluation.correction.label_store import LabelStore, StoredDraw, StoredLabel, check_annotator
from evaluation.correction.sampling import draw_labels, strata_by_verdict
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome
from evaluation.statistics.counts import OutcomeRecord

ARMS = ("closed_book", "rag")
RECORDS = [
    OutcomeRecord(f"q{q:02d}", arm, s, "hallucinated" if (q + s) % 3 == 0 else "supported")
    for q in range(30)
    for arm in ARMS
    for s in range(2)
]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        with opened.write() as connection:
            connection.execute(insert(runs).values(id="r", name="n", config={}, status="finished"))
            connection.execute(
                insert(samples),
                [
                    {"run_id": "r", "question_id": r.question_id, "arm": r.arm, "decoding": "d", "sample": r.sample}
                    | {"seed": 0, "completion": {}, "prompt": {}, "evaluation": {}}
                    for r in RECORDS
                ],
            )
        yield opened


def drawn(wanted: int = 10) -> StoredDraw:
    return StoredDraw(draw_labels(RECORDS, ARMS, 30, 3), "d", wanted)


def test_a_draw_comes_back_as_it_was_and_a_stratified_one_too(store: Store) -> None:
    labels = LabelStore(store)
    assert labels.load_draw("r") is None
    strata = strata_by_verdict(RECORDS)
    for stored in (drawn(), StoredDraw(draw_labels(RECORDS, ARMS, 12, 3, strata, "equal"), "d", 12)):
        labels.save_draw("r", stored)
        assert labels.load_draw("r") == stored
    assert stored.stratified and stored.chosen == stored.draw
    with store.write() as connection:
        connection.execute(update(label_draws).values(draw={"seed": 1}))
    with pytest.raises(EvaluationError, match="draw again"):
        labels.load_draw("r")


def test_wanting_more_keeps_what_was_shown_first() -> None:
    assert wanted_items(drawn(20))[:20] == wanted_items(drawn(10))
    assert {q.probability for q in drawn(10).chosen.questions} == {10 / 30}
    with pytest.raises(EvaluationError, match="1 to 30"):
        drawn(31)


def test_a_label_replaces_the_same_persons_earlier_one_only(store: Store) -> None:
    labels, item = LabelStore(store), wanted_items(drawn())[0]
    labels.save("r", "d", [StoredLabel(item, "ann", "supported")])
    labels.save("r", "d", [StoredLabel(item, "bo", "hallucinated"), StoredLabel(item, "ann", "abstained")])
    labels.save("r", "d", [StoredLabel(item, "ann", "unscored", settles=True)])
    found = {(g.annotator, g.settles): g.label for g in labels.load("r", "d")}
    assert found == {("ann", False): "abstained", ("bo", False): "hallucinated", ("ann", True): "unscored"}
    assert labels.load("r", "other") == ()


def test_a_response_that_is_gone_takes_its_labels_along_and_gets_no_new_ones(store: Store) -> None:
    labels, items = LabelStore(store), wanted_items(drawn())
    labels.save("r", "d", [StoredLabel(items[0], "ann", "supported")])
    with store.write() as connection:
        connection.execute(delete(samples).where(samples.c.question_id == items[0][0]))
    assert labels.load("r", "d") == ()
    with pytest.raises(EvaluationError, match="no label was saved"):
        labels.save("r", "d", [StoredLabel(items[2], "ann", "supported"), StoredLabel(items[0], "ann", "supported")])
    assert labels.load("r", "d") == ()


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\x1bb", "a\nb"])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(EvaluationError, match="printable"):
        check_annotator(name)


def test_impossible_labels_are_refused(store: Store) -> None:
    with pytest.raises(EvaluationError, match="'maybe'"):
        LabelStore(store).save("r", "d", [StoredLabel(("q00", "rag", 0), "ann", "maybe")])  # type: ignore[arg-type]


def given(stored: StoredDraw, name: str, label: Outcome, count: int | None = None) -> list[StoredLabel]:
    return [StoredLabel(item, name, label) for item in wanted_items(stored)[:count]]


def test_ties_count_as_undecided_until_somebody_settles_them() -> None:
    stored = drawn()
    items = wanted_items(stored)
    labels = [*given(stored, "ann", "supported"), *given(stored, "bo", "hallucinated", 2)]
    progress = progress_of(stored, labels)
    assert (progress.ties, progress.done, progress.disputed) == (2, 20, items[:2])
    assert [progress.outcomes[i] for i in items[:3]] == ["unscored", "unscored", "supported"]
    settled = progress_of(stored, [*labels, StoredLabel(items[0], "cy", "hallucinated", settles=True)])
    assert (settled.ties, settled.disputed) == (1, items[1:2])
    assert settled.outcomes[items[0]] == "hallucinated"
    assert [(a.name, a.labelled, a.settled) for a in settled.annotators] == [("ann", 20, 0), ("bo", 2, 0), ("cy", 0, 1)]
    assert settled.agreement == progress.agreement  # an adjudicated label is not a vote
    # Nobody labelled these. An adjudicator's label alone does not count.
    assert progress_of(stored, [StoredLabel(items[0], "cy", "supported", settles=True)]).done == 0


def test_only_the_beginning_of_the_draw_without_gaps_is_used() -> None:
    stored = drawn()
    items = wanted_items(stored)
    without_third_question = [g for g in given(stored, "ann", "supported") if g.key not in items[4:6]]
    progress = progress_of(stored, [*without_third_question, StoredLabel(("gone", "rag", 0), "ann", "supported")])
    assert (progress.complete, progress.done) == (2, 18)
    figures = figures_of(RECORDS, stored, progress)
    assert figures.run is None and "2 questions of the draw are labelled" in figures.reason
    full = figures_of(RECORDS, stored, progress_of(stored, given(stored, "ann", "supported")))
    assert full.run is not None and (full.used, full.run.population, full.run.labelled) == (10, 30, 10)
    assert [p.baseline for p in full.run.pairs] == ["closed_book"]


def test_more_labels_than_wanted_are_all_used() -> None:
    progress = progress_of(drawn(6), given(drawn(9), "ann", "supported"))
    assert progress.complete == 9 and figures_of(RECORDS, drawn(6), progress).used == 9


def test_figures_of_a_draw_by_strata_wait_for_all_of_it_and_a_changed_run_says_so() -> None:
    stored = StoredDraw(draw_labels(RECORDS, ARMS, 12, 3, strata_by_verdict(RECORDS), "equal"), "d", 12)
    labels = given(stored, "ann", "hallucinated")
    part = figures_of(RECORDS, stored, progress_of(stored, labels[:-1]))
    assert part.run is None and "must be labelled completely" in part.reason
    assert figures_of(RECORDS, stored, progress_of(stored, labels)).run is not None
    changed = figures_of(RECORDS[4:], stored, progress_of(stored, labels))
    assert changed.run is None and "draw again" in changed.reason
