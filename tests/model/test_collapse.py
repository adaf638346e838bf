"""A run that has collapsed is noticed, on a real one driven out of what it had learnt; healthy ones are not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from model.training.collapse import FIRST_STEPS, FirstLosses, has_collapsed
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.trainer import train
from tests.model.training_helpers import KilledError, build, some_rows
from tests.tiny_decoders import PREFIX

LEARNS = TrainSettings(learning_rate=1e-2, tokens_per_batch=200, epochs=250, weight_decay=0.0)
DESTROYS = dataclasses.replace(LEARNS, learning_rate=1.0, epochs=320, seed=3)


def test_where_a_run_began_is_the_mean_of_its_first_steps_only() -> None:
    first = FirstLosses()
    for k in range(FIRST_STEPS):
        assert first.mean is None
        first = first.and_then(float(k))
    assert first.mean == (FIRST_STEPS - 1) / 2
    assert first.and_then(1e9) == first


@pytest.mark.parametrize(
    ("step", "loss", "began", "lost"),
    [
        (300, 1.0, 0.61, True),  # the run of 2026-11-23
        (1413, 1.0, 0.61, True),
        (299, 1.0, 0.61, False),  # warm starts that came back stood there too: the next two
        (100, 0.643, 0.473, False),
        (167, 0.621, 0.349, False),
        (305, 0.386, 0.349, False),
        (300, 0.66, 0.61, False),
        (300, 0.69, 0.69, False),  # from nothing: it stands still before it learns
        (300, 1.0, None, False),
        (300, 1.0, 0.0, False),
    ],
)
def test_far_above_the_beginning_after_a_while_is_lost(step: int, loss: float, began: float | None, lost: bool) -> None:
    assert has_collapsed(step, loss, began) is lost


@pytest.mark.drill
def test_a_run_driven_out_of_what_it_knew_is_seen_and_one_that_learns_is_not(tmp_path: Path) -> None:
    rows, model = some_rows(20), build(PREFIX)
    seen: list[TrainProgress] = []
    healthy = train(model, rows, LEARNS, tmp_path / "learns", progress=seen.append, checkpoint_seconds=1e9)
    assert not healthy.collapsed
    assert not any(p.collapsed for p in seen)
    assert healthy.began is not None
    assert healthy.loss < healthy.began
    assert [p.began is None for p in seen[: FIRST_STEPS + 1]] == [True] * (FIRST_STEPS - 1) + [False] * 2

    calm = dataclasses.replace(LEARNS, learning_rate=1e-5, max_steps=30)
    assert train(model, rows, calm, tmp_path / "calm", checkpoint_seconds=1e9).collapsed is False
    lost = train(model, rows, dataclasses.replace(DESTROYS, warmup=0.4), tmp_path / "lost", checkpoint_seconds=1e9)
    assert lost.collapsed
    assert lost.began is not None
    assert lost.loss > 1.5 * lost.began


@pytest.mark.drill
def test_a_resumed_run_still_knows_where_it_began(tmp_path: Path) -> None:
    rows, settings = some_rows(20), dataclasses.replace(LEARNS, max_steps=40)
    uninterrupted = train(build(PREFIX), rows, settings, tmp_path / "whole", checkpoint_seconds=1e9)
    for kill in (7, 33):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: TrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        with pytest.raises(KilledError):
            train(build(PREFIX), rows, settings, folder, progress=die, checkpoint_seconds=0.0)
        again = train(build(PREFIX), rows, settings, folder, checkpoint_seconds=0.0)
        assert again.resumed_at == kill - 1
        assert again.began == uninterrupted.began
        assert not again.collapsed


@pytest.mark.drill
def test_a_checkpoint_that_does_not_tell_where_it_began_goes_on_unwatched(tmp_path: Path) -> None:
    rows = some_rows(20)
    train(build(PREFIX), rows, dataclasses.replace(LEARNS, max_steps=30), tmp_path, checkpoint_seconds=0.0)
    (state,) = tmp_path.glob("step-*/state.json")
    facts = json.loads(state.read_text("utf-8"))
    del facts["first"]
    state.write_text(json.dumps(facts), "utf-8")
    result = train(build(PREFIX), rows, dataclasses.replace(LEARNS, max_steps=60), tmp_path, checkpoint_seconds=0.0)
    assert result.resumed_at == 30
    assert result == TrainResult(60, 30, result.loss, result.seconds, result.schedules, None)
    assert not result.collapsed
