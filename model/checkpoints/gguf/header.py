"""Read the header of a GGUF file: metadata and tensor descriptions.

The layout is that of the GGUF specification (ggml, docs/gguf.md), versions 2 and 3. ``gguf.GGUFReader`` is not used: it
takes seconds for a vocabulary of 50,000 tokens, because it creates a NumPy view for every string, and it trusts the
counts in the file. This module checks every count against the remaining bytes.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType

from model.errors import ModelError

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_DIMENSIONS = 4
_DEFAULT_ALIGNMENT = 32
_SCALARS: Mapping[int, str] = {
    GGUFValueType.UINT8: "B",
    GGUFValueType.INT8: "b",
    GGUFValueType.UINT16: "H",
    GGUFValueType.INT16: "h",
    GGUFValueType.UINT32: "I",
    GGUFValueType.INT32: "i",
    GGUFValueType.FLOAT32: "f",
    GGUFValueType.BOOL: "?",
    GGUFValueType.UINT64: "Q",
    GGUFValueType.INT64: "q",
    GGUFValueType.FLOAT64: "d",
}


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """A tensor of a GGUF file.

    shape: as in PyTorch, which is the reverse of the order in the file. type_name: ggml's name of its type. start,
    size: offset and number of its bytes in ``file``.
    """

    name: str
    file: Path
    shape: tuple[int, ...]
    type_name: str
    start: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class GgufHeader:
    """The header of a GGUF file.

    metadata: values by key: numbers, strings, booleans, or lists of these. tensors: in the order of the file.
    """

    path: Path
    metadata: Mapping[str, object]
    tensors: tuple[GgufTensor, ...]


def read_header(path: Path) -> GgufHeader:
    """Read the header of one GGUF file. The last few are cached by path, size and modification time.

    Raises ModelError, naming the file, if it is missing, truncated or damaged, or if its byte order or version is not
    supported.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> GgufHeader:
    if size < 24:
        raise ModelError(f"{path} is {size} bytes long, which is too short for a GGUF file: fetch it again")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(path, data).header()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error


class _Reader:
    """A sequential reader of ``data`` that checks every read against the end of the file."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._offset = 0

    def header(self) -> GgufHeader:
        if self._bytes(4, "the magic number") != _MAGIC:
            raise ModelError(f"{self._path} is not a GGUF file: it does not begin with {_MAGIC.decode()}")
        version = self._number("I")
        if version & 0xFFFF == 0:
            raise ModelError(
                f"{self._path} is a big-endian GGUF file, which is not supported: convert it with gguf-convert-endian"
            )
        if version not in _VERSIONS:
            raise ModelError(f"{self._path} is of GGUF version {version}; versions 2 and 3 are supported")
        num_tensors, num_values = self._number("Q"), self._number("Q")
        metadata: dict[str, object] = {}
        for _ in range(num_values):
            key = self._string("a metadata key")
            if key in metadata:
                raise ModelError(f"{self._path}: the metadata key {key} occurs twice: the file is damaged")
            metadata[key] = self._value(self._number("I"), key)
        described = [self._tensor() for _ in range(num_tensors)]
        return GgufHeader(self._path, MappingProxyType(metadata), self._with_offsets(described, metadata))

    def _with_offsets(
        self, described: list[tuple[str, tuple[int, ...], GGMLQuantizationType, int]], metadata: Mapping[str, object]
    ) -> tuple[GgufTensor, ...]:
        """Return the tensors with their offsets in the file."""
        alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
            raise ModelError(f"{self._path}: general.alignment is {alignment!r}, it must be a power of two")
        start = -(-self._offset // alignment) * alignment
        tensors: dict[str, GgufTensor] = {}
        for name, shape, kind, offset in described:
            block, block_bytes = GGML_QUANT_SIZES[kind]
            if shape[-1] % block:
                raise ModelError(
                    f"{self._path}: tensor {name} is {kind.name} with rows of {shape[-1]}, which is not a multiple of "
                    f"{block}: the file is damaged"
                )
            count = 1
            for length in shape:
                count *= length
            size = count // block * block_bytes
            if start + offset + size > len(self._data):
                raise ModelError(
                    f"{self._path} is cut short: tensor {name} ends at byte {start + offset + size:,}, the file has "
                    f"{len(self._data):,}: fetch it again"
                )
            if name in tensors:
                raise ModelError(f"{self._path}: tensor {name} occurs twice: the file is damaged")
            tensors[name] = GgufTensor(name, self._path, shape, kind.name, start + offset, size)
        return tuple(tensors.values())

    def _tensor(self) -> tuple[str, tuple[int, ...], GGMLQuantizationType, int]:
        name = self._string("a tensor's name")
        dimensions = self._number("I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ModelError(f"{self._path}: tensor {name} has {dimensions} dimensions: the file is damaged")
        shape = tuple(self._number("Q") for _ in range(dimensions))[::-1]
        if 0 in shape:
            raise ModelError(f"{self._path}: tensor {name} has the shape {shape}: the file is damaged")
        kind = self._number("I")
        try:
            return name, shape, GGMLQuantizationType(kind), self._number("Q")
        except ValueError as error:
            raise ModelError(f"{self._path}: tensor {name} is of the unknown ggml type {kind}") from error

    def _value(self, kind: int, key: str) -> object:
        if kind == GGUFValueType.STRING:
            return self._string(key)
        if kind in _SCALARS:
            return self._scalars(_SCALARS[kind], 1, key)[0]
        if kind != GGUFValueType.ARRAY:
            raise ModelError(f"{self._path}: {key} is of the unknown GGUF value type {kind}")
        inner, count = self._number("I"), self._number("Q")
        if inner == GGUFValueType.STRING:
            self._check_remaining(8 * count, key)
            return [self._string(key) for _ in range(count)]
        if inner not in _SCALARS:
            raise ModelError(f"{self._path}: {key} is an array of GGUF value type {inner}, which is not supported")
        return list(self._scalars(_SCALARS[inner], count, key))

    def _scalars(self, form: str, count: int, what: str) -> tuple[int | float | bool, ...]:
        return struct.unpack(f"<{count}{form}", self._bytes(struct.calcsize(form) * count, what))

    def _number(self, form: str) -> int:
        return int(self._scalars(form, 1, "the header")[0])

    def _string(self, what: str) -> str:
        try:
            return self._bytes(self._number("Q"), what).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(f"{self._path}: {what} is not UTF-8: the file is damaged") from error

    def _bytes(self, size: int, what: str) -> bytes:
        self._check_remaining(size, what)
        self._offset += size
        return self._data[self._offset - size : self._offset]

    def _check_remaining(self, size: int, what: str) -> None:
        if size > len(self._data) - self._offset:
            raise ModelError(
                f"{self._path} is cut short or damaged: {what} needs {size:,} bytes at byte {self._offset:,}, the "
                f"file has {len(self._data):,}: fetch it again"
            )


def raw_tensor(tensor: GgufTensor) -> np.memmap:
    """Return the bytes of a tensor, memory-mapped: (size,), uint8. Raises ModelError if the file cannot be read."""
    try:
        return np.memmap(tensor.file, np.uint8, "r", tensor.start, (tensor.size,))
    except (OSError, ValueError) as error:
        raise ModelError(f"{tensor.file} cannot be read at tensor {tensor.name}: {error}") from error
