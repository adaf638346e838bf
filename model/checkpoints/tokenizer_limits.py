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
    """Limits of the child process.

    memory_bytes: address space, including the interpreter. cpu_seconds: CPU time in seconds.
    """

    memory_bytes: int = 2 << 30
    cpu_seconds: int = 20


_LIMITS = TokenizerLimits()


def try_tokenizer(path: Path, limits: TokenizerLimits = _LIMITS) -> None:
    """Load a checkpoint's tokenizer, encode and decode with it, all in a child process.

    path: a checkpoint folder or a GGUF file. Raises ModelError, naming the file, if the tokenizer cannot be read or
    exceeds a limit.
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
