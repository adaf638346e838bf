"""Hash files and write them atomically."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # torch takes seconds to import, and commands that only hash or write a file do not need it
    from torch import Tensor


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file atomically: readers see the old or the new content, also after a crash or on a full disk."""
    write_together({path: content})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several related files: all are written to temporary files before the first is renamed.

    A full disk therefore leaves the old files. During the renames a reader may see old and new files together, so the
    last file should be the one that names the others.
    """
    temporaries = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in files}
    try:
        for path, content in files.items():
            with temporaries[path].open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except BaseException:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)
        raise


def json_bytes(value: Mapping[str, object]) -> bytes:
    """Return the content of a file that ``write_json`` writes: indented JSON with sorted keys."""
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def tensor_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a safetensors file with these tensors and metadata."""
    from safetensors.torch import save

    contiguous = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    return save(contiguous, metadata=dict(metadata) if metadata else None)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write indented JSON with sorted keys atomically."""
    write_atomic(path, json_bytes(value))


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write a safetensors file atomically."""
    write_atomic(path, tensor_bytes(tensors, metadata))
