"""How the indexing job works, as one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobParams:
    """How the work is done; no influence on what comes out, but on speed, memory, and how much a kill costs.

    workers: processes that cut documents; 0 cuts in a thread of this process. documents_per_commit,
    characters_per_commit: read between two commits at most. texts_per_call: put through the encoder between two
    commits. texts_per_window: sorted by length together.
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
