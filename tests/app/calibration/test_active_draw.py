"""Calibration with active draws of labels, and with scores of unlabelled answers in addition to labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.labelling.draws import DrawRequest, open_draw
from evaluation.correction.label_store import LabelStore, StoredLabel
from evaluation.guarantee.active_draw import draw_active_labels

Run = Callable[..., tuple[int, str, str]]


def label_actively(world: Any, run: str, questions: int) -> int:
    """Label all drawn answers as supported and return their number."""
    with world.pipeline() as pipeline:
        drawn = open_draw(pipeline, run, DrawRequest(questions=questions, active=True))
        keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
        given = [StoredLabel(key, "me", "supported") for key in keys]
        LabelStore(pipeline.store).save(run, drawn.stored.decoding, given)
    return len(keys)


def test_an_active_draw_is_stored_with_its_probabilities_and_certifies(plumbline: Run, world: Any) -> None:
    run = world.store(600, 0)
    drawn = label_actively(world, run, 300)
    with world.pipeline() as pipeline:
        stored = LabelStore(pipeline.store).load_draw(run)
    assert stored is not None and stored.draw.active and stored.draw.floor == 0.25
    probabilities = [q.probability for q in stored.draw.questions]
    assert len(probabilities) == drawn and min(probabilities) >= 0.25 and len(set(probabilities)) > 100
    code, out, _ = plumbline("calibrate", run, "--alpha", "0.2", "--thresholds", "0.2,0.1", "--json")
    found = json.loads(out)
    (result,) = found["results"]
    assert code == 0 and result["test"] == "prediction_powered_betting"
    assert found["thresholds_from"] == "given" and found["labels"] == drawn
    assert result["conformal"] is None and found["curve"] is None


def test_an_active_draw_is_labelled_whole_and_corrects_no_report(plumbline: Run, world: Any) -> None:
    run = world.store(200, 0)
    label_actively(world, run, 100)
    code, out, err = plumbline("report", run, "--json")
    assert code == 0 and "active draw" in out + err
    with world.pipeline() as pipeline:
        drawn = open_draw(pipeline, run, DrawRequest(redraw=True, active=True, questions=100, seed=5))
        key = (drawn.stored.draw.questions[0].question_id, "rag", 0)
        LabelStore(pipeline.store).save(run, drawn.stored.decoding, [StoredLabel(key, "me", "supported")])
    code, _, err = plumbline("calibrate", run)
    assert code == 1 and "labelled completely" in err


@pytest.mark.parametrize(
    ("options", "named"),
    [(("--active", "--stratify"), "--active"), (("--questions", "50"), "--redraw"), (("--stratify",), "--redraw")],
)
def test_an_active_draw_is_not_changed_behind_ones_back(
    plumbline: Run, world: Any, options: tuple[str, ...], named: str
) -> None:
    run = world.store(60, 0)
    assert plumbline("label", run, "--status", "--active", "--questions", "30")[0] == 0
    assert plumbline("label", run, "--status", "--active")[0] == 0
    code, _, err = plumbline("label", run, "--status", *options)
    assert code == 2 and named in err


def test_a_uniform_draw_is_not_taken_for_an_active_one(plumbline: Run, world: Any) -> None:
    run = world.store(60, 20)
    code, _, err = plumbline("label", run, "--status", "--active")
    assert code == 2 and "equal probabilities" in err


def test_unsure_questions_are_drawn_more_often() -> None:
    scores = {(f"q{i:03d}", "rag", 0): (0.5 if i % 2 else 0.99) for i in range(400)}
    draw = draw_active_labels(scores, ["rag"], 100, seed=1)
    unsure = sum(int(q.question_id[1:]) % 2 for q in draw.questions)
    assert unsure > 0.7 * len(draw.questions)
    assert draw_active_labels(scores, ["rag"], 100, seed=1) == draw


def test_scores_without_labels_stand_beside_labels(plumbline: Run, world: Any) -> None:
    run = world.store(600, 150, "supported")
    code, out, _ = plumbline("calibrate", run, "--alpha", "0.2", "--predictions", "--json")
    (result,) = json.loads(out)["results"]
    assert code == 0 and result["test"] == "prediction_powered_betting"
    few = world.store(160, 100, "supported", seed=8)
    code, _, err = plumbline("calibrate", few, "--predictions")
    assert code == 1 and "60 unlabelled answers" in err
