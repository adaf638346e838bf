"""What the machine did when a training step failed, and what to do: a GPU that vanished, memory that ran out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from model.errors import ModelError

_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
_NO_DEVICE = ("CUDA error", "CUDA driver error", "CUBLAS_STATUS", "cuDNN error", "CUDNN_STATUS")


def machine_failure(error: Exception, kept: int, folder: Path) -> ModelError | None:
    """The error to raise in place of one that memory or a GPU caused in a step; None for any other.

    kept: the step of the last checkpoint in ``folder``, 0 when there is none yet. torch says both by a RuntimeError
    (its AcceleratorError and OutOfMemoryError are kinds of it), and on the CPU by the text alone.
    """
    said = " ".join(str(error).split())[:200]
    stand = f"the checkpoint of step {kept} in {folder} is kept" if kept else f"{folder} holds no checkpoint yet"
    again = "the same command resumes from it" if kept else "the same command begins anew"
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(text in said for text in _NO_MEMORY):
        return ModelError(
            f"memory ran out in training ({said or type(error).__name__}): {stand}; free memory and {again}, or lower "
            "the tokens per batch, which is another run: give it another folder"
        )
    if isinstance(error, torch.AcceleratorError) or any(text in said for text in _NO_DEVICE):
        return ModelError(f"the GPU failed in training ({said}): {stand}; once the GPU works again, {again}")
    return None


@contextmanager
def machine_failures(kept: int, folder: Path) -> Iterator[None]:
    """Raises what ``machine_failure`` makes of an error inside; every other error passes through as it is."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        named = machine_failure(error, kept, folder)
        if named is None:
            raise
        raise named from error
