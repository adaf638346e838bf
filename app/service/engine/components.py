"""The parts of a pipeline that the service cannot do without, opened one by one, and why one of them is not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import USER_ERRORS
from app.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class MissingComponent:
    """part: database, encoder or model. reason: what a person can do about it."""

    part: str
    reason: str


class Components:
    """Opens store, encoder and generator, and tries again those that could not be opened. Safe to use from threads."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._openers: dict[str, Callable[[], object]] = {
            "database": lambda: pipeline.store,
            "encoder": lambda: pipeline.encoder,
            "model": lambda: pipeline.generator,
        }
        self._opened: set[str] = set()
        self._lock = threading.Lock()

    @property
    def all_open(self) -> bool:
        """Whether an answer can be asked for."""
        return len(self._opened) == len(self._openers)

    def open(self) -> tuple[MissingComponent, ...]:
        """Open what is not open yet; may take seconds. Returns what still is not."""
        missing: list[MissingComponent] = []
        with self._lock:
            for part, opener in self._openers.items():
                if part in self._opened:
                    continue
                try:
                    opener()
                except (*USER_ERRORS, OSError) as error:
                    missing.append(MissingComponent(part, str(error)))
                else:
                    self._opened.add(part)
        return tuple(missing)
