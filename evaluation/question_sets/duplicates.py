"""Find near-duplicate questions by cosine similarity of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from retrieval.encoding.encoder import Encoder

DUPLICATE_COSINE: Final = 0.93
"""Minimum cosine similarity of duplicates, chosen for the packaged MiniLM."""


class AcceptedQuestions:
    """The questions kept so far, with their embeddings."""

    def __init__(self, encoder: Encoder, threshold: float = DUPLICATE_COSINE) -> None:
        """Create an empty set. threshold: minimum cosine of duplicates, in (0, 1]. Raises ValueError for others."""
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold is {threshold}: a cosine above 0 and at most 1 is needed")
        self._encoder, self._threshold = encoder, threshold
        self._vectors: NDArray[np.float32] | None = None
        self._texts: list[str] = []

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (T, E) unit vectors of texts."""
        return self._encoder.encode_queries(list(texts))

    def nearest(self, vector: NDArray[np.float32]) -> str | None:
        """Return the kept question that duplicates the one with this (E,) vector; None if there is none."""
        if self._vectors is None:
            return None
        cosines = self._vectors @ vector
        best = int(cosines.argmax())
        return self._texts[best] if cosines[best] >= self._threshold else None

    def add(self, text: str, vector: NDArray[np.float32]) -> None:
        """Add a question with its (E,) vector."""
        row = vector[None, :]
        self._vectors = row if self._vectors is None else np.concatenate([self._vectors, row])
        self._texts.append(text)


def duplicate_groups(texts: Sequence[str], encoder: Encoder, threshold: float = DUPLICATE_COSINE) -> list[list[int]]:
    """Group the indices of duplicate texts. Groups are sorted by their first member.

    The grouping is greedy: a text joins the group with the nearest first member if their cosine is at least
    ``threshold``, else it begins a group.
    """
    groups: list[list[int]] = []
    kept = AcceptedQuestions(encoder, threshold)
    group_of: dict[str, int] = {}
    if not texts:
        return groups
    for number, vector in enumerate(kept.vectors(texts)):
        near = kept.nearest(vector)
        if near is None:
            key = f"{number}"
            group_of[key] = len(groups)
            groups.append([number])
            kept.add(key, vector)
        else:
            groups[group_of[near]].append(number)
    return groups
