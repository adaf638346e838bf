"""Parameters of a vector index. They are stored in the manifest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["auto", "flat", "hnsw", "ivf"]
Quantisation = Literal["none", "int8"]
BuiltKind = Literal["flat", "flat-int8", "hnsw", "hnsw-int8", "ivf", "ivf-int8"]


@dataclass(frozen=True, slots=True)
class DenseParams:
    """Parameters of a vector index.

    kind: "auto" is flat (exact) up to ``flat_up_to`` vectors and HNSW above. "ivf" is an inverted file with k-means
    centroids (Sivic and Zisserman, ICCV 2003; Jegou, Douze and Schmid, TPAMI 2011), which is built many times faster
    than a graph. quantisation: "int8" stores one byte per dimension instead of four; the loss of recall is measured.
    links, build_depth: HNSW's M and efConstruction (Malkov and Yashunin, TPAMI 2020). search_depth: HNSW's efSearch,
    or the number of IVF lists that are probed; None doubles the smallest depth until it reaches ``target_recall`` at
    build time.
    """

    kind: Kind = "auto"
    quantisation: Quantisation = "none"
    flat_up_to: int = 100_000
    links: int = 32
    build_depth: int = 200
    search_depth: int | None = None
    target_recall: float = 0.98

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, not {self.kind!r}")
        if self.quantisation not in get_args(Quantisation):
            raise ValueError(f"quantisation must be 'none' or 'int8', not {self.quantisation!r}")
        if self.flat_up_to < 0:
            raise ValueError(f"flat_up_to must not be negative, not {self.flat_up_to}")
        if not 2 <= self.links <= 256 or self.build_depth < 1:
            raise ValueError(f"need links in [2, 256] and build_depth >= 1, not {self.links}, {self.build_depth}")
        if self.search_depth is not None and self.search_depth < 1:
            raise ValueError(f"search_depth must be at least 1, not {self.search_depth}")
        if not 0 < self.target_recall <= 1:
            raise ValueError(f"target_recall must lie in (0, 1], not {self.target_recall}")


def resolved_kind(params: DenseParams, count: int) -> BuiltKind:
    """Return the kind of index that is built for ``count`` vectors."""
    kind = params.kind if params.kind != "auto" else "hnsw" if count > params.flat_up_to else "flat"
    if params.quantisation == "int8":
        quantised: dict[str, BuiltKind] = {"flat": "flat-int8", "hnsw": "hnsw-int8", "ivf": "ivf-int8"}
        return quantised[kind]
    return kind


def list_count(count: int) -> int:
    """Return the number of IVF lists for N = ``count`` vectors.

    It is a power of two, at most 4 sqrt(N), with at least 40 vectors in a list on average.
    """
    if count < 80:
        return 1
    return 1 << int(min(math.log2(4 * math.sqrt(count)), math.log2(count / 40)))
