"""Nearest vectors by inner product, served by FAISS. Knows nothing of text: vectors in, positions out.

What the other files use of retrieval/vectors: parameters, the index, building it and loading it.
"""

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
