"""Open the required components of a pipeline one by one, and record why one is unavailable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import USER_ERRORS
from app.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class MissingComponent:
    """An unavailable component. part: database, encoder or model. reason: the error message, with what to do."""

    part: str
    reason: str


class Components:
    """The store, the encoder and the generator of a pipeline. Those that failed to open are retried. Thread-safe."""

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
        """Whether all components are open."""
        return len(self._opened) == len(self._openers)

    def open(self) -> tuple[MissingComponent, ...]:
        """Open the components that are not open, which may take seconds. Returns those that failed."""
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
