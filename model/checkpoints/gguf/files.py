"""Open the GGUF files of one model: a single file, or all parts of a split one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from model.checkpoints.gguf.header import SUFFIX, GgufHeader, GgufTensor, read_header
from model.errors import ModelError

_PART = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
_COUNT = "split.count"


@dataclass(frozen=True, slots=True, eq=False)
class GgufModel:
    """A model in one or several GGUF files.

    path: the file that was given. files: all parts, in order. metadata: that of the first part, which is complete.
    tensors: those of all parts.
    """

    path: Path
    files: tuple[Path, ...]
    metadata: Mapping[str, object]
    tensors: tuple[GgufTensor, ...]

    @property
    def names(self) -> frozenset[str]:
        """Names of the tensors."""
        return frozenset(tensor.name for tensor in self.tensors)


def is_gguf(path: Path) -> bool:
    """Return whether a path names a GGUF file, by its suffix."""
    return path.suffix.lower() == SUFFIX


def open_gguf(path: Path) -> GgufModel:
    """Open the model of a GGUF file, or of any part of a split one (``NAME-00001-of-00003.gguf``).

    Raises ModelError, naming the file, if a part is missing or a header cannot be read.
    """
    if not path.is_file():
        raise ModelError(f"{path} is {'a folder' if path.is_dir() else 'missing'}: give the path of a GGUF file")
    return _joined(path, tuple(read_header(file) for file in _parts(path)))


@lru_cache(maxsize=4)
def _joined(path: Path, headers: tuple[GgufHeader, ...]) -> GgufModel:
    """Return the model of these headers. Equal calls return the same object, so that derived values can be cached."""
    files = tuple(header.path for header in headers)
    first = headers[0].metadata
    for header in headers[1:]:
        if header.metadata.get(_COUNT) != first.get(_COUNT):
            raise ModelError(f"{header.path}: {_COUNT} differs from that of {files[0].name}: these are not one model")
    tensors = [tensor for header in headers for tensor in header.tensors]
    expected = first.get("split.tensors.count", len(tensors)) if len(files) > 1 else len(tensors)
    if len({tensor.name for tensor in tensors}) != len(tensors) or expected != len(tensors):
        raise ModelError(
            f"{path}: its {len(files)} parts hold {len(tensors)} tensors, split.tensors.count is {expected}: these are "
            "not the parts of one model"
        )
    return GgufModel(path, files, first, tuple(tensors))


def _parts(path: Path) -> tuple[Path, ...]:
    count = read_header(path).metadata.get(_COUNT, 0)
    if not isinstance(count, int) or count <= 1:
        return (path,)
    named = _PART.fullmatch(path.name)
    if named is None or int(named["count"]) != count:
        raise ModelError(
            f"{path} is one of {count} parts ({_COUNT}), and its name is not NAME-00001-of-{count:05d}.gguf: the "
            "others cannot be found"
        )
    files = tuple(path.with_name(f"{named['stem']}-{number:05d}-of-{count:05d}.gguf") for number in range(1, count + 1))
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise ModelError(f"{path.parent}: {len(missing)} of {count} parts are missing: {', '.join(missing[:5])}")
    return files
