"""Hashes of files and writes that are whole or not there at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or all of the new, also after a crash or on a full disk."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """write_whole of indented JSON with sorted keys."""
    write_whole(path, (json.dumps(value, indent=2, sort_keys=True) + "\n").encode())


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """write_whole of a safetensors file."""
    from safetensors.torch import save

    contiguous = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    write_whole(path, save(contiguous, metadata=dict(metadata) if metadata else None))
