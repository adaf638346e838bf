"""Parameters of the indexing job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobParams:
    """How the work is done. The values affect speed, memory and the cost of a kill, but not the result.

    workers: processes that chunk documents; 0 uses a thread of this process. documents_per_commit,
    characters_per_commit: maximum read between two commits. texts_per_call: texts encoded between two commits.
    texts_per_window: texts sorted by length together.
    """

    workers: int = 0
    documents_per_commit: int = 200
    characters_per_commit: int = 2_000_000
    texts_per_call: int = 128
    texts_per_window: int = 4096

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ValueError(f"workers must not be negative, not {self.workers}")
        for name in ("documents_per_commit", "characters_per_commit", "texts_per_call", "texts_per_window"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
