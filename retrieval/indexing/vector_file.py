"""A matrix on disk that is never fully in memory. It is written and read in parts."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.atomic_write import naming_file

_BLOCK = 1 << 22  # bytes


class VectorFile:
    """An (N, E) float32 matrix in a file. It supports slices and arrays of positions, and each read is a copy.

    It is not a np.memmap, because a memmap's pages count as memory of the process until the system evicts them. Use it
    as a context manager, which removes the file at the end.
    """

    def __init__(self, path: Path, count: int, dimension: int) -> None:
        self._path = path
        self._row = 4 * dimension
        self._descriptor = -1
        self.shape = (count, dimension)
        self.dtype = np.dtype("<f4")
        self.ndim = 2

    def __enter__(self) -> VectorFile:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        self._path.unlink(missing_ok=True)

    def __len__(self) -> int:
        return self.shape[0]

    def write(self, start: int, vectors: NDArray[np.float32]) -> None:
        """Write rows starting at ``start``. Raises OSError if the disk is full."""
        rest = memoryview(np.ascontiguousarray(vectors, dtype=self.dtype).tobytes())
        offset = start * self._row
        with naming_file(self._path):
            while rest:
                done = os.pwrite(self._descriptor, rest, offset)
                rest, offset = rest[done:], offset + done

    def __getitem__(self, selection: Any) -> NDArray[np.float32]:
        """Return the rows of a slice or of an array of positions."""
        if isinstance(selection, slice):
            start, stop, step = selection.indices(len(self))
            return self._read(start, max(0, stop - start))[::step]
        positions = np.asarray(selection).ravel()
        rows = np.empty((positions.size, self.shape[1]), self.dtype)
        for row, position in zip(rows, positions.tolist(), strict=True):
            self._read_into(row, position)
        return rows

    def _read(self, start: int, count: int) -> NDArray[np.float32]:
        rows = np.empty((count, self.shape[1]), self.dtype)
        if count:
            self._read_into(rows, start)
        return rows

    def _read_into(self, rows: NDArray[np.float32], start: int) -> None:
        """Read rows from row ``start`` on into the contiguous ``rows``, in blocks, so that memory holds them once."""
        rest, offset = rows.data.cast("B"), start * self._row
        while rest:
            part = os.pread(self._descriptor, min(len(rest), _BLOCK), offset)
            if not part:
                raise OSError(f"{self._path} ended at byte {offset}, before row {start + rows.nbytes // self._row}")
            rest[: len(part)] = part
            rest, offset = rest[len(part) :], offset + len(part)
