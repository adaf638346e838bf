"""Training that was killed, stopped or finds others' checkpoints: it ends where an undisturbed run does."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from model.decoder.config import DecoderConfig
from model.errors import ModelError
from model.training.loop import TrainProgress, TrainResult, TrainSettings
from model.training.trainer import train
from tests.model.training_helpers import KilledError, build, full_disk, same, some_rows, weights
from tests.tiny_decoders import LLAMA, PREFIX

BOTH = pytest.mark.parametrize("config", [LLAMA, PREFIX], ids=["llama", "prefix"])
SETTINGS = TrainSettings(learning_rate=3e-3, tokens_per_batch=40, answer_tokens_per_batch=20)


@BOTH
@pytest.mark.parametrize("bf16", [False, True])
def test_a_run_killed_at_any_step_ends_bitwise_where_an_undisturbed_one_does(
    config: DecoderConfig, bf16: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bitwise: the same machine, thread count and precision (the checkpoint says which) compute the same sums."""
    rows = some_rows(25)
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
    uninterrupted = build(config)
    result = train(uninterrupted, rows, SETTINGS, tmp_path / "whole")
    assert result.resumed_at == 0
    steps = result.steps
    assert steps > 4
    for kill in range(1, steps + 1):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: TrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: bf16)
        with pytest.raises(KilledError):
            train(build(config), rows, SETTINGS, folder, progress=die, checkpoint_seconds=0.0)
        if kill % 2:
            (folder / ".step-0000099.part").mkdir()  # what a kill in the middle of writing leaves
        # The machine is busy now and the probe would decide otherwise. (Before the first checkpoint it still may.)
        if kill > 1:
            monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: not bf16)
        resumed = build(config)
        again = train(resumed, rows, SETTINGS, folder, checkpoint_seconds=0.0)
        assert again.resumed_at == kill - 1  # the step it died in was not saved
        assert again.steps == steps
        assert again.loss == result.loss
        assert same(weights(uninterrupted), weights(resumed))
        assert [path.name for path in folder.iterdir()] == [f"step-{steps:07d}"]


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    rows = some_rows(9)
    first = build(LLAMA)
    result = train(first, rows, SETTINGS, tmp_path)
    second = build(LLAMA)
    again = train(second, rows, SETTINGS, tmp_path)
    assert again.resumed_at == again.steps == result.steps
    assert again.loss == result.loss
    assert same(weights(first), weights(second))


def test_anothers_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    rows = some_rows(9)
    train(build(LLAMA), rows, SETTINGS, tmp_path)
    for others, settings, named in (
        (rows[::-1], SETTINGS, "other rows:"),
        (rows, dataclasses.replace(SETTINGS, seed=1), "other settings:"),
    ):
        with pytest.raises(ModelError, match=named):
            train(build(LLAMA), others, settings, tmp_path)
    for other in (build(PREFIX), build(LLAMA, seed=5)):
        with pytest.raises(ModelError, match="other starting weights"):
            train(other, rows, SETTINGS, tmp_path)


@pytest.mark.parametrize("damage", ["flip", "cut", "json", "facts", "gone", "list"])
def test_a_damaged_checkpoint_is_passed_over(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an older one where there is one; else the run begins anew, and says so. It never goes on from damage."""
    monkeypatch.setattr("model.training.loop.bf16_pays", lambda device: False)
    rows, folder = some_rows(25), tmp_path / "run"
    uninterrupted = build(LLAMA)
    train(uninterrupted, rows, SETTINGS, tmp_path / "whole")

    def die(progress: TrainProgress) -> None:
        if progress.step == 3:
            shutil.copytree(folder / "step-0000002", tmp_path / "step-0000002")
        if progress.step == 5:
            raise KilledError

    with pytest.raises(KilledError):
        train(build(LLAMA), rows, SETTINGS, folder, progress=die, checkpoint_seconds=0.0)
    newest = folder / "step-0000004"
    tensors, facts = newest / "state.safetensors", newest / "state.json"
    content = bytearray(tensors.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        tensors.write_bytes(content)
    elif damage == "cut":
        tensors.write_bytes(content[:-100])
    elif damage == "json":
        facts.write_text(facts.read_text()[:-20])
    elif damage == "facts":
        facts.write_text(json.dumps({"sha256": json.loads(facts.read_text())["sha256"]}))
    elif damage == "list":
        facts.write_text("[]")
    else:
        tensors.unlink()
    shutil.copytree(folder, tmp_path / "alone")
    shutil.copytree(tmp_path / "step-0000002", folder / "step-0000002")
    for place, begun in ((folder, 2), (tmp_path / "alone", 0)):
        model = build(LLAMA)
        assert train(model, rows, SETTINGS, place).resumed_at == begun
        assert same(weights(model), weights(uninterrupted))


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    rows = some_rows(25)
    with (
        full_disk(3, 20_000) as fill,
        pytest.raises(ModelError, match=r"step-0000003"),
    ):
        train(build(LLAMA), rows, SETTINGS, tmp_path, progress=fill, checkpoint_seconds=0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert train(build(LLAMA), rows, SETTINGS, tmp_path).resumed_at == 2


def test_a_run_may_be_shortened_and_lengthened_on_the_way(tmp_path: Path) -> None:
    """The schedule ends at the new number of steps, and what was planned before stays on record."""

    def stop(progress: TrainProgress) -> None:
        if progress.step == 3:
            raise KilledError

    def again(most: int | None) -> TrainResult:
        return train(build(LLAMA), rows, dataclasses.replace(SETTINGS, max_steps=most), tmp_path)

    rows = some_rows(60)
    with pytest.raises(KilledError):
        train(build(LLAMA), rows, SETTINGS, tmp_path, checkpoint_seconds=0.0, progress=stop)
    planned = json.loads(next(tmp_path.glob("step-*/state.json")).read_text())["identity"]["steps"]
    assert planned > 6
    short = again(5)
    assert (short.steps, short.resumed_at, short.schedules) == (5, 2, ((0, planned), (2, 5)))
    longer = again(6)
    assert (longer.steps, longer.resumed_at) == (6, 5)
    assert longer.schedules == (*short.schedules, (5, 6))
    assert again(4).steps == 6  # nothing is undone
