"""Explain failures of the machine in a training step (a lost GPU, no memory), and say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from model.errors import ModelError

_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "CUBLAS_STATUS_ALLOC_FAILED")
_NO_DEVICE = ("CUDA error", "CUDA driver error", "CUBLAS_STATUS", "cuDNN error", "CUDNN_STATUS")


def machine_failure(error: Exception, kept: int, folder: Path) -> ModelError | None:
    """Return the error to raise instead of one that is caused by memory or a GPU; None for other errors.

    kept: step of the last checkpoint in ``folder``, 0 without one. torch reports both causes as RuntimeError (or its
    subclasses AcceleratorError and OutOfMemoryError), which on a CPU only the text distinguishes.
    """
    message = " ".join(str(error).split())[:200]
    state = f"the checkpoint of step {kept} in {folder} is kept" if kept else f"{folder} holds no checkpoint yet"
    again = "the same command resumes from it" if kept else "the same command starts from the beginning"
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(text in message for text in _NO_MEMORY):
        return ModelError(
            f"out of memory in training ({message or type(error).__name__}): {state}; free memory and {again}, or "
            "lower the tokens per batch, which is another run: give it another folder"
        )
    if isinstance(error, torch.AcceleratorError) or any(text in message for text in _NO_DEVICE):
        return ModelError(f"the GPU failed in training ({message}): {state}; once the GPU works again, {again}")
    return None


@contextmanager
def machine_failures(kept: int, folder: Path) -> Iterator[None]:
    """Replace errors inside the block by those of ``machine_failure``. Other errors pass through."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        named = machine_failure(error, kept, folder)
        if named is None:
            raise
        raise named from error
