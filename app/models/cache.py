"""A cache of opened models: callers in one process that want the same files on the same device share one object."""

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
"""Of the name of a part of a split model file."""

MAX_MODELS = 8
MAX_BYTES = 1 << 30
_DEPTH = 2
"""Levels of subfolders whose files are looked at; sentence-transformers keeps modules in one."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What changes when a file is written again. name: relative to the model's folder. size: bytes."""

    name: str
    size: int
    modified_ns: int
    changed_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Which model, from which files, and how it was opened. folder: resolved, so that links lead to one entry."""

    kind: Kind
    folder: Path
    device: str
    precision: str
    files: tuple[FileStamp, ...]

    @property
    def size(self) -> int:
        """Bytes of all files: about what the weights take in memory."""
        return sum(file.size for file in self.files)

    def replaces(self, other: ModelKey) -> bool:
        """Whether ``other`` is the same model before its files changed."""
        return self._place == other._place and self.files != other.files

    @property
    def _place(self) -> tuple[Kind, Path, str, str]:
        return self.kind, self.folder, self.device, self.precision


def model_key(kind: Kind, folder: Path, device: str = "cpu", precision: str = "") -> ModelKey:
    """The key of the model in ``folder``, or in one GGUF file, as its files are now. Reads no file, only their status.

    A file that cannot be looked at is left out: opening the model reports it.
    """
    resolved = folder.resolve()
    return ModelKey(kind, resolved, device, precision, tuple(sorted(_stamps(resolved), key=lambda stamp: stamp.name)))


class ModelCache:
    """Keeps models open, the least recently used one dropped first. Safe to use from several threads.

    The cache shares objects, it does not own them: a model that was dropped goes on working for those who hold it, and
    its memory is freed with the last of them. Models must be safe to share, as encoders, scorers and generators are.
    """

    def __init__(self, max_models: int = MAX_MODELS, max_bytes: int = MAX_BYTES) -> None:
        """max_bytes: of the files of all kept models together. Raises ValueError for a negative bound."""
        if max_models < 0 or max_bytes < 0:
            raise ValueError(f"max_models and max_bytes must not be negative: {max_models}, {max_bytes}")
        self._max_models = max_models
        self._max_bytes = max_bytes
        self._kept: OrderedDict[ModelKey, object] = OrderedDict()
        self._opening: dict[ModelKey, Future[object]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of models kept."""
        with self._lock:
            return len(self._kept)

    def __contains__(self, key: ModelKey) -> bool:
        """Whether the model is kept, and would not have to be opened."""
        with self._lock:
            return key in self._kept

    def get(self, key: ModelKey, load: Callable[[], Model]) -> Model:
        """The kept model, or what ``load`` returns. Threads that ask for one model at once wait for a single ``load``.

        Raises what ``load`` raises, in every thread that waited; nothing is kept then. A model larger than
        ``max_bytes`` is returned and not kept.
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
            except CancelledError:  # the thread that loaded it was interrupted: load it here
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
        """Drop a model; whether it was kept."""
        with self._lock:
            keys = [key for key, kept in self._kept.items() if kept is model]
            for key in keys:
                del self._kept[key]
            return bool(keys)

    def close(self) -> None:
        """Drop all models, those that are being opened too. The cache can be used again."""
        with self._lock:
            self._kept.clear()
            self._opening.clear()

    def _opened(self, key: ModelKey, opening: Future[object]) -> bool:
        """Strike the opening off; False where ``close`` was called meanwhile."""
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
    """The cache of this process, which commands and pipelines use unless they are given another."""
    return ModelCache()


def _stamps(folder: Path) -> list[FileStamp]:
    if folder.is_file():  # a GGUF file, or one part of a split one
        parts = [p for p in folder.parent.iterdir() if _PART.sub("", p.name) == _PART.sub("", folder.name)]
        return [stamp for path in sorted(parts) if (stamp := _stamp(path, folder.parent)) is not None]
    found = []
    for parent, subfolders, names in os.walk(folder, followlinks=True):
        depth = len(Path(parent).relative_to(folder).parts)
        if depth >= _DEPTH:  # a link may lead back up, and "/" is a folder too
            subfolders.clear()
        for name in names:
            stamp = _stamp(Path(parent) / name, folder)
            if stamp is not None:
                found.append(stamp)
    return found


def _stamp(path: Path, folder: Path) -> FileStamp | None:
    """The status of one file, None where it cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return FileStamp(path.relative_to(folder).as_posix(), status.st_size, *times, status.st_ino)
