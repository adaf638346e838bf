"""Parameters of BM25. They are stored in the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Weighting = Literal["lucene", "okapi", "bm25l", "bm25+"]
Backend = Literal["bm25s", "rank-bm25"]


@dataclass(frozen=True, slots=True)
class Bm25Params:
    """Parameters of BM25.

    weighting: "lucene" (recommended), or a weighting of rank-bm25: "okapi", "bm25l", "bm25+". k1: saturation of word
    counts. b: strength of the length normalisation in [0, 1]. epsilon: factor of the mean idf that replaces negative
    values under "okapi". backend: library of the index; "rank-bm25" is a reference that supports only its own
    weightings and is about 30 times slower. delta: delta of BM25L and BM25+; None for rank-bm25's default (0.5 and 1).
    """

    weighting: Weighting = "lucene"
    k1: float = 0.9
    b: float = 0.4
    epsilon: float = 0.25
    backend: Backend = "bm25s"
    delta: float | None = None

    def __post_init__(self) -> None:
        if self.weighting not in get_args(Weighting):
            raise ValueError(f"weighting must be one of {', '.join(get_args(Weighting))}, not {self.weighting!r}")
        if self.backend not in get_args(Backend):
            raise ValueError(f"backend must be 'bm25s' or 'rank-bm25', not {self.backend!r}")
        if self.backend == "rank-bm25" and self.weighting == "lucene":
            raise ValueError("backend 'rank-bm25' has no weighting 'lucene': take 'okapi', 'bm25l' or 'bm25+'")
        if not (self.k1 >= 0 and 0 <= self.b <= 1 and self.epsilon >= 0):
            raise ValueError(f"need k1 >= 0, 0 <= b <= 1, epsilon >= 0, not {self.k1}, {self.b}, {self.epsilon}")
        if self.delta is not None and not self.delta >= 0:
            raise ValueError(f"delta must not be negative, not {self.delta}")

    @property
    def shift(self) -> float:
        """``delta``, or rank-bm25's default for the weighting if it is None."""
        if self.delta is not None:
            return self.delta
        return {"bm25l": 0.5, "bm25+": 1.0}.get(self.weighting, 0.0)


REFERENCE_BM25 = Bm25Params(weighting="okapi", k1=1.5, b=0.75)
"""The defaults of rank-bm25."""
