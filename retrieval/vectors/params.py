"""The parameters of a vector index, as one value that the manifest keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["auto", "flat", "hnsw"]
Quantisation = Literal["none", "int8"]
BuiltKind = Literal["flat", "flat-int8", "hnsw", "hnsw-int8"]


@dataclass(frozen=True, slots=True)
class DenseParams:
    """kind: "auto" is flat (exact) up to ``flat_up_to`` vectors and HNSW above. quantisation: "int8" keeps one byte of
    four a dimension, at a loss that is measured.

    links, build_depth, search_depth: HNSW's M, efConstruction and efSearch (Malkov and Yashunin, TPAMI 2020);
    search_depth None: the smallest doubling that reaches ``target_recall`` when the index is built.
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
    """What an index of so many vectors is built as."""
    hnsw = params.kind == "hnsw" or (params.kind == "auto" and count > params.flat_up_to)
    if params.quantisation == "int8":
        return "hnsw-int8" if hnsw else "flat-int8"
    return "hnsw" if hnsw else "flat"
