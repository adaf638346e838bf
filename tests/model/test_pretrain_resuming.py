"""Pretraining that was killed, stopped or failed: it ends where an undisturbed run does, or says what is kept."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest
import torch

from model.errors import ModelError
from model.training.pretrain import CheckpointOptions, PretrainProgress, pretrain
from model.training.pretrain_corpus import TokenStream
from model.training.pretrain_shape import (
    new_decoder,
)
from tests.model.pretraining_helpers import CONFIG, SETTINGS
from tests.model.training_helpers import KilledError, full_disk, same, weights


@pytest.mark.drill
@pytest.mark.parametrize(("bf16", "part_bytes"), [(False, None), (True, 5000)])
def test_a_killed_run_ends_bitwise_where_an_undisturbed_one_does(
    streams: dict[str, TokenStream],
    bf16: bool,
    part_bytes: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bitwise: the same machine, thread count and precision (the checkpoint says which) compute the same sums."""
    monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: bf16)
    stream, uninterrupted = streams["train"], new_decoder(CONFIG, 0)
    result = pretrain(uninterrupted, stream, SETTINGS, tmp_path / "whole", corpus="c")
    steps = result.steps
    assert steps == int(1.5 * (len(stream) // 12)) // 3 > 4
    assert result.finished
    assert result.bf16 == bf16
    for kill in (1, 4, steps):
        folder = tmp_path / f"killed-{kill}"

        def die(progress: PretrainProgress, at: int = kill) -> None:
            if progress.step == at:
                raise KilledError

        monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: bf16)
        with pytest.raises(KilledError):
            pretrain(
                new_decoder(CONFIG, 0),
                stream,
                SETTINGS,
                folder,
                corpus="c",
                progress=die,
                checkpoints=CheckpointOptions(-1.0, part_bytes),
            )
        if kill % 2:
            (folder / ".step-0000099.part").mkdir()  # what a kill in the middle of writing leaves
            (folder / "joined").mkdir()
        if kill > 1:
            monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: not bf16)
        if part_bytes:
            sizes = [path.stat().st_size for path in folder.glob("step-*/state.safetensors*")]
            assert all(size <= part_bytes for size in sizes)
            assert kill == 1 or len(sizes) > 3
        resumed = new_decoder(CONFIG, 0)
        again = pretrain(
            resumed, stream, SETTINGS, folder, corpus="c", checkpoints=CheckpointOptions(part_bytes=part_bytes)
        )
        assert again.resumed_at == kill - 1
        assert again.loss == result.loss
        assert same(weights(uninterrupted), weights(resumed))
        assert [path.name for path in folder.iterdir()] == [f"step-{steps:07d}"]


def test_told_to_stop_it_writes_a_checkpoint_and_goes_on_from_it(
    streams: dict[str, TokenStream], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Probed once a run, and here are two: on a busy machine they may decide differently.
    monkeypatch.setattr("model.training.pretrain.bf16_pays", lambda device: False)
    uninterrupted = new_decoder(CONFIG, 0)
    result = pretrain(uninterrupted, streams["train"], SETTINGS, tmp_path / "whole", corpus="c")
    calls, model = 0, new_decoder(CONFIG, 0)
    stops: list[bool] = []

    def third() -> bool:
        stops.append(True)
        return len(stops) % 3 == 0

    while True:
        options = CheckpointOptions(part_bytes=4000 if calls % 2 else None)
        model = new_decoder(CONFIG, 0)
        found = pretrain(
            model,
            streams["train"],
            SETTINGS,
            tmp_path / "parts",
            corpus="c",
            stop=third,
            checkpoints=options,
        )
        assert found.resumed_at == 3 * calls
        calls += 1
        if found.finished:
            break
        assert found.step == 3 * calls
    assert calls == math.ceil(result.steps / 3) > 2
    assert same(weights(uninterrupted), weights(model))


def test_another_runs_checkpoint_is_refused_by_name(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    pretrain(
        new_decoder(CONFIG, 0),
        streams["train"],
        SETTINGS,
        tmp_path,
        corpus="c",
        checkpoints=CheckpointOptions(part_bytes=4000),
    )
    for settings, corpus, seed, named in (
        (SETTINGS, "d", 0, "other corpus:"),
        (dataclasses.replace(SETTINGS, clip=2.0), "c", 0, "other settings:"),
        (SETTINGS, "c", 1, "other starting weights:"),
    ):
        with pytest.raises(ModelError, match=named) as caught:
            pretrain(new_decoder(CONFIG, seed), streams["train"], settings, tmp_path, corpus=corpus)
        assert "joined" not in str(caught.value)
    (part, *_) = tmp_path.glob("step-*/state.safetensors.001")
    part.write_bytes(part.read_bytes()[:-1])
    assert pretrain(new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c").resumed_at == 0


@pytest.mark.parametrize("part_bytes", [None, 15_000])
def test_a_full_disk_keeps_the_last_checkpoint(
    streams: dict[str, TokenStream], part_bytes: int | None, tmp_path: Path
) -> None:
    with (
        full_disk(3, 12_000) as fill,
        pytest.raises(ModelError, match=r"step-0000003"),
    ):
        pretrain(
            new_decoder(CONFIG, 0),
            streams["train"],
            SETTINGS,
            tmp_path,
            corpus="c",
            progress=fill,
            checkpoints=CheckpointOptions(-1.0, part_bytes),
        )
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]
    assert pretrain(new_decoder(CONFIG, 0), streams["train"], SETTINGS, tmp_path, corpus="c").resumed_at == 2


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError("CUDA error: unspecified launch failure\nmore"),
            r"the GPU failed .*unspecified launch failure.*: the checkpoint",
        ),
        (torch.OutOfMemoryError("out of memory"), r"out of memory .*: the checkpoint"),
    ],
)
def test_a_gpu_that_fails_gets_one_message(
    streams: dict[str, TokenStream], error: RuntimeError, expected: str, tmp_path: Path
) -> None:
    model, seen = new_decoder(CONFIG, 0), []

    def fail(grad: torch.Tensor) -> None:
        if len(seen) == 2:
            raise error

    model.embedding.weight.register_hook(fail)
    with pytest.raises(ModelError, match=expected) as caught:
        pretrain(
            model,
            streams["train"],
            SETTINGS,
            tmp_path,
            corpus="c",
            progress=seen.append,
            checkpoints=CheckpointOptions(-1.0),
        )
    assert "\n" not in str(caught.value)
    assert f"checkpoint of step 2 in {tmp_path} is kept" in str(caught.value)
    assert "the same command resumes from it" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000002"]


def test_other_errors_stay_what_they_are(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    model = new_decoder(CONFIG, 0)

    def fail(grad: torch.Tensor) -> None:
        raise RuntimeError("a mistake of ours")

    model.embedding.weight.register_hook(fail)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        pretrain(model, streams["train"], SETTINGS, tmp_path, corpus="c")
