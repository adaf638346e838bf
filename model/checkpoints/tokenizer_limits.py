"""Test a checkpoint's tokenizer in a child process before this process loads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from model.checkpoints.source import tokenizer_file
from model.errors import ModelError
from model.limited_process import LimitedProcessError, ask_child


@dataclass(frozen=True, slots=True)
class TokenizerLimits:
    """memory_bytes: address space of the child, including the interpreter. cpu_seconds: its CPU time."""

    memory_bytes: int = 2 << 30
    cpu_seconds: int = 20


_LIMITS = TokenizerLimits()


def try_tokenizer(path: Path, limits: TokenizerLimits = _LIMITS) -> None:
    """Load, encode and decode with a checkpoint's tokenizer (a folder or a GGUF file) in a child process.

    Raises ModelError, naming the file, if it cannot be read or exceeds a limit.
    """
    file = tokenizer_file(path)
    try:
        answer = ask_child(
            "model.checkpoints.tokenizer_trial",
            {"path": os.fspath(path)},
            memory_bytes=limits.memory_bytes,
            cpu_seconds=limits.cpu_seconds,
        )
    except LimitedProcessError as error:
        raise ModelError(f"{file} cannot be used as a tokenizer: {error}") from error
    if (reason := answer.get("error")) is not None:
        named = answer.get("named") and str(path) in str(reason)
        raise ModelError(str(reason) if named else f"{file} cannot be used as a tokenizer: {reason}")
