"""Public interface of retrieval/vectors: parameters, index, building and loading."""

from __future__ import annotations

from retrieval.vectors.building import DenseBuild, build_dense, build_flat, load_dense, load_flat
from retrieval.vectors.faiss_index import FaissIndex, VectorIndex, Vectors
from retrieval.vectors.params import DenseParams, resolved_kind
from retrieval.vectors.recall import DenseRecall

__all__ = [
    "DenseBuild",
    "DenseParams",
    "DenseRecall",
    "FaissIndex",
    "VectorIndex",
    "Vectors",
    "build_dense",
    "build_flat",
    "load_dense",
    "load_flat",
    "resolved_kind",
]
