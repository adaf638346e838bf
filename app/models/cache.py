"""A cache of loaded models. Callers in one process that request the same files and device share one object."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar, cast

Model = TypeVar("Model")
Kind = Literal["default encoder", "encoder", "reader", "answer reader", "decoder", "verifier"]

_PART = re.compile(r"-\d{5}-of-\d{5}(?=\.\w+$)")
"""Pattern of the part number in the name of a split model file."""

MAX_MODELS = 8
MAX_BYTES = 1 << 30
_DEPTH = 2
"""Number of folder levels whose files are checked. sentence-transformers stores modules in subfolders."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """The status of a file, which changes on every write.

    name: path relative to the model's folder. size: size in bytes. modified_ns, changed_ns: times in nanoseconds.
    """

    name: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class ModelKey:
    """The key of a model in the cache: its files and how it was loaded.

    folder: resolved path, so that links share one entry. precision: description of how the weights are loaded.
    """

    kind: Kind
    folder: Path
    device: str
    precision: str
    files: tuple[FileStamp, ...]

    @property
    def size(self) -> int:
        """Size of all files in bytes, which approximates the memory of the weights."""
        return sum(file.size for file in self.files)

    def replaces(self, other: ModelKey) -> bool:
        """Return whether ``other`` is the same model with other files, for example before it was trained again."""
        return self._source == other._source and self.files != other.files

    @property
    def _source(self) -> tuple[Kind, Path, str, str]:
        return self.kind, self.folder, self.device, self.precision


def model_key(kind: Kind, folder: Path, device: str = "cpu", precision: str = "") -> ModelKey:
    """Return the key of a model for its current files. Reads only the status of files.

    folder: folder or GGUF file of the model. An inaccessible file is left out, because loading the model reports it.
    """
    resolved = folder.resolve()
    return ModelKey(kind, resolved, device, precision, tuple(sorted(_stamps(resolved), key=lambda stamp: stamp.name)))


class ModelCache:
    """A cache of loaded models that evicts the least recently used one. Thread-safe.

    An evicted model still works for its users, and its memory is freed with the last of them. Models must be safe to
    share between threads, as encoders, scorers and generators are.
    """

    def __init__(self, max_models: int = MAX_MODELS, max_bytes: int = MAX_BYTES) -> None:
        """max_models: maximum number of models. max_bytes: maximum total size of their files, in bytes.

        Raises ValueError for a negative limit.
        """
        if max_models < 0 or max_bytes < 0:
            raise ValueError(f"max_models and max_bytes must not be negative: {max_models}, {max_bytes}")
        self._max_models = max_models
        self._max_bytes = max_bytes
        self._kept: OrderedDict[ModelKey, object] = OrderedDict()
        self._opening: dict[ModelKey, Future[object]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached models."""
        with self._lock:
            return len(self._kept)

    def __contains__(self, key: ModelKey) -> bool:
        """Return whether the model is cached."""
        with self._lock:
            return key in self._kept

    def get(self, key: ModelKey, load: Callable[[], Model]) -> Model:
        """Return the cached model, or load it with ``load`` and cache it.

        Threads that request one model at the same time share a single call of ``load``. Its errors are raised in every
        waiting thread, and nothing is cached then. A model larger than ``max_bytes`` is returned without caching.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return cast("Model", self._kept[key])
                opening = self._opening.get(key)
                if opening is None:
                    mine = self._opening[key] = Future()
                    break
            try:
                return cast("Model", opening.result())
            except CancelledError:  # the loading thread was interrupted, so this thread loads the model
                continue
        try:
            model = load()
        except BaseException as error:
            self._opened(key, mine)
            if isinstance(error, Exception):
                mine.set_exception(error)
            else:
                mine.cancel()
            raise
        if self._opened(key, mine):
            self._keep(key, model)
        mine.set_result(model)
        return model

    def release(self, model: object) -> bool:
        """Evict a model. Return whether it was cached."""
        with self._lock:
            keys = [key for key, kept in self._kept.items() if kept is model]
            for key in keys:
                del self._kept[key]
            return bool(keys)

    def close(self) -> None:
        """Evict all models, including those that are being loaded. The cache can still be used."""
        with self._lock:
            self._kept.clear()
            self._opening.clear()

    def _opened(self, key: ModelKey, opening: Future[object]) -> bool:
        """Remove the entry of a model that is being loaded. Return False if ``close`` was called meanwhile."""
        with self._lock:
            if self._opening.get(key) is not opening:
                return False
            del self._opening[key]
            return True

    def _keep(self, key: ModelKey, model: object) -> None:
        with self._lock:
            for stale in [kept for kept in self._kept if key.replaces(kept)]:
                del self._kept[stale]
            if key.size > self._max_bytes:
                return
            self._kept[key] = model
            while len(self._kept) > self._max_models or sum(kept.size for kept in self._kept) > self._max_bytes:
                self._kept.popitem(last=False)


@lru_cache(maxsize=1)
def process_models() -> ModelCache:
    """Return the cache of this process, the default of commands and pipelines."""
    return ModelCache()


def _stamps(folder: Path) -> list[FileStamp]:
    if folder.is_file():  # a GGUF file, or one part of a split file
        parts = [p for p in folder.parent.iterdir() if _PART.sub("", p.name) == _PART.sub("", folder.name)]
        return [stamp for path in sorted(parts) if (stamp := _stamp(path, folder.parent)) is not None]
    found = []
    for parent, subfolders, names in os.walk(folder, followlinks=True):
        depth = len(Path(parent).relative_to(folder).parts)
        if depth >= _DEPTH:  # a link may point to a parent folder, and "/" is a folder too
            subfolders.clear()
        for name in names:
            stamp = _stamp(Path(parent) / name, folder)
            if stamp is not None:
                found.append(stamp)
    return found


def _stamp(path: Path, folder: Path) -> FileStamp | None:
    """Return the status of a file, or None if it is inaccessible."""
    try:
        status = path.stat()
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return FileStamp(path.relative_to(folder).as_posix(), status.st_size, *times, status.st_ino)
