"""A GPU that vanishes and memory that runs out: the user is told what is kept and how to go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from model.errors import ModelError
from model.training.failures import machine_failure
from model.training.loop import StepLoss, TrainResult, TrainSettings, run_steps

GONE = "CUDA error: unspecified launch failure\nCompile with TORCH_USE_CUDA_DSA to enable device-side assertions."
CPU_MEMORY = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
STEPS = 6


def build() -> nn.Linear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Linear(3, 2)


def steps(
    model: nn.Linear, folder: Path, fails: Callable[[int], None] = lambda step: None, every: float = 0.0
) -> TrainResult:
    def loss_of(step: int) -> StepLoss:
        fails(step)
        return StepLoss(model(torch.full((1, 3), float(step))).square().sum(), 3)

    settings = TrainSettings(learning_rate=1e-2)
    return run_steps(model, loss_of, STEPS, settings, folder, identity={}, checkpoint_seconds=every)


def at(step: int, error: Exception) -> Callable[[int], None]:
    def fails(now: int) -> None:
        if now == step:
            raise error

    return fails


@pytest.mark.parametrize("error", [RuntimeError(GONE), torch.AcceleratorError(GONE), RuntimeError("cuDNN error: X")])
def test_a_gpu_that_vanishes_leaves_a_run_that_resumes(error: Exception, tmp_path: Path) -> None:
    uninterrupted = build()
    steps(uninterrupted, tmp_path / "whole")
    folder = tmp_path / "run"
    with pytest.raises(ModelError) as caught:
        steps(build(), folder, at(4, error))
    message = str(caught.value)
    assert message.startswith("the GPU failed in training (")
    assert f"the checkpoint of step 4 in {folder} is kept" in message
    assert "the same command resumes from it" in message
    assert "\n" not in message
    assert caught.value.__cause__ is error
    again = build()
    assert steps(again, folder).resumed_at == 4
    assert torch.equal(again.weight, uninterrupted.weight)


def test_before_the_first_checkpoint_none_is_promised(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"GPU failed .*holds no checkpoint yet"):
        steps(build(), tmp_path, at(4, RuntimeError(GONE)), every=1e9)
    with pytest.raises(ModelError, match="holds no checkpoint yet"):
        steps(build(), tmp_path, at(0, RuntimeError(GONE)))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError(CPU_MEMORY),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    ],
    ids=lambda error: str(error)[:20] or "MemoryError",
)
def test_memory_that_runs_out_asks_for_smaller_batches(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"memory.*step 2") as caught:
        steps(build(), tmp_path, at(2, error))
    assert "another folder" in str(caught.value)


def test_failures_of_the_backward_pass_and_of_reading_the_weights_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build()

    def gone(gradient: torch.Tensor) -> None:
        raise RuntimeError(GONE)

    model.weight.register_hook(gone)
    with pytest.raises(ModelError, match="the GPU failed"):
        steps(model, tmp_path / "backward")

    def unreadable(*_: object) -> None:
        raise RuntimeError(GONE)

    monkeypatch.setattr("model.training.loop.save_state", unreadable)
    with pytest.raises(ModelError, match="the GPU failed"):
        steps(build(), tmp_path / "saving")


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), ValueError("CUDA error"), KeyError(3)])
def test_other_errors_pass_through(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)) as caught:
        steps(build(), tmp_path, at(2, error))
    assert caught.value is error


def test_a_long_message_is_cut() -> None:
    found = machine_failure(RuntimeError("CUDA error: " + "x\n" * 5000), 3, Path("out"))
    assert found is not None
    assert len(str(found)) < 500
    assert machine_failure(RuntimeError("no such thing"), 3, Path("out")) is None
