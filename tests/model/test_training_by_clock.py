"""Runs that the clock ends: the rate falls with the time, any number of rounds, resumed with what time is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from model.errors import ModelError
from model.training import loop
from model.training.epochs import Rounds
from model.training.loop import StepLoss, TrainProgress, TrainResult, TrainSettings, clock_schedule, run_steps
from tests.model.training_helpers import KilledError

SECONDS = 100.0


class Clock:
    """Ten seconds pass in each step."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loop.time, "monotonic", clock.monotonic)
    return clock


def steps(
    clock: Clock, folder: Path, seen: Callable[[TrainProgress], None], limit: int = 10**9, every: float = 0.0
) -> TrainResult:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)

    def loss_of(step: int) -> StepLoss:
        clock.now += 10
        return StepLoss(model(torch.full((1, 3), float(step))).square().sum(), 30)

    settings = TrainSettings(learning_rate=1e-2, warmup=0.2, seconds=SECONDS)
    return run_steps(model, loss_of, limit, settings, folder, identity={}, checkpoint_seconds=every, progress=seen)


def test_the_rate_rises_and_falls_with_the_share_of_the_time() -> None:
    assert [clock_schedule(spent, 0.2) for spent in (0.1, 0.2, 0.6, 1.0)] == pytest.approx([0.5, 1.0, 0.5, 0.0])
    assert 0 < clock_schedule(0.0, 0.2) < 0.1
    assert clock_schedule(0.0, 0.0) == 1.0


def test_the_time_ends_the_run_and_says_how_many_steps_there_will_be(clock: Clock, tmp_path: Path) -> None:
    seen: list[TrainProgress] = []
    result = steps(clock, tmp_path, seen.append)
    assert (result.steps, result.seconds, result.schedules) == (10, 100.0, ((0, 10),))
    assert [(p.step, p.steps) for p in seen] == [(step, 10) for step in range(1, 11)]
    assert seen[-1].tokens_per_second == pytest.approx(3.0)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000010"]
    again = steps(clock, tmp_path, seen.append)  # nothing is left of its time
    assert (again.steps, again.resumed_at, len(seen)) == (10, 10, 10)


def test_the_last_step_is_kept_though_no_checkpoint_was_due(clock: Clock, tmp_path: Path) -> None:
    assert steps(clock, tmp_path, lambda progress: None, every=1e9).steps == 10
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000010"]


def test_who_looks_on_may_take_the_rest_of_the_time(clock: Clock, tmp_path: Path) -> None:
    def slow(progress: TrainProgress) -> None:
        if progress.step == 9:
            clock.now += 15  # held-out claims are scored, say

    result = steps(clock, tmp_path, slow, every=1e9)
    assert (result.steps, result.schedules) == (9, ((0, 9),))
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000009"]


def test_a_run_that_was_killed_takes_the_time_that_is_left(clock: Clock, tmp_path: Path) -> None:
    def die(progress: TrainProgress) -> None:
        if progress.step == 4:
            raise KilledError

    with pytest.raises(KilledError):
        steps(clock, tmp_path, die)
    clock.now += 5000  # between its parts nothing counts
    seen: list[TrainProgress] = []
    result = steps(clock, tmp_path, seen.append)
    assert (result.resumed_at, result.steps, result.seconds) == (3, 10, 100.0)
    assert [p.seconds for p in seen] == [40.0 + 10 * n for n in range(7)]


def test_a_number_of_steps_ends_it_first(clock: Clock, tmp_path: Path) -> None:
    assert steps(clock, tmp_path, lambda progress: None, limit=3).steps == 3


def test_a_step_is_taken_however_short_the_time(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    settings = TrainSettings(seconds=1e-9)

    def loss_of(step: int) -> StepLoss:
        return StepLoss(model(torch.ones(1, 3)).square().sum(), 3)

    assert run_steps(model, loss_of, 10**9, settings, tmp_path, identity={}).steps == 1


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(ModelError, match="seconds"):
        TrainSettings(seconds=seconds)


def test_a_checkpoint_of_before_there_was_a_clock_is_gone_on_from(clock: Clock, tmp_path: Path) -> None:
    def die(progress: TrainProgress) -> None:
        if progress.step == 4:
            raise KilledError

    with pytest.raises(KilledError):
        steps(clock, tmp_path, die)
    path = tmp_path / "step-0000003" / "state.json"
    facts = json.loads(path.read_text())
    del facts["identity"]["settings"]["seconds"]
    path.write_text(json.dumps(facts))
    assert steps(clock, tmp_path, lambda progress: None).resumed_at == 3


def test_rounds_are_planned_when_they_are_reached() -> None:
    planned: list[int] = []

    def batches(epoch: int) -> list[tuple[int, ...]]:
        planned.append(epoch)
        return [(epoch, 0), (epoch, 1)]

    rounds = Rounds(batches)
    assert rounds.steps(TrainSettings(seconds=5.0)) > 10**9 and planned == []
    assert rounds.steps(TrainSettings(seconds=5.0, max_steps=3)) == 3
    assert [rounds.batch(step) for step in (3, 0, 4)] == [(1, 1), (0, 0), (2, 0)]
    assert planned == [0, 1, 2]
    other = Rounds(batches)
    assert other.steps(TrainSettings(epochs=2)) == 4
    assert other.steps(TrainSettings(epochs=2, max_steps=3)) == 3
