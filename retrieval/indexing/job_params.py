"""Parameters of the indexing job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobParams:
    """Parameters of an indexing job. They affect its speed, its memory and the work lost if it is killed.

    They do not affect its result. workers: number of processes that chunk documents; 0 uses a thread of this process.
    documents_per_commit, characters_per_commit: largest numbers read between two commits. texts_per_call: number of
    texts encoded between two commits. texts_per_window: number of texts sorted by length together.
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
