"""Building and loading vector indexes: flat up to a size, HNSW above, quantised on request, recall measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from retrieval.errors import RetrievalError
from retrieval.vectors.faiss_index import FaissIndex, Vectors
from retrieval.vectors.params import BuiltKind, DenseParams, resolved_kind
from retrieval.vectors.recall import DenseRecall, exact_neighbours, measured_recall, neighbours, sampled_positions

_BLOCK = 4_096
_RECALL_K = 10
_RECALL_QUERIES = 200
_TRAINING = 20_000
_DEEPEST = 1_024


@dataclass(frozen=True, slots=True)
class DenseBuild:
    """index: ready to search. kind: what it is. recall: None for a plain flat index, which is exact."""

    index: FaissIndex
    kind: BuiltKind
    recall: DenseRecall | None


def build_dense(
    vectors: Vectors, params: DenseParams | None = None, progress: Callable[[int, int], None] | None = None
) -> DenseBuild:
    """Index (N, E) vectors; L2-normalised ones make the inner product a cosine.

    vectors: may be a np.memmap; it is read in blocks. progress: called with (added, N) after each block, and again with
    (N, N) for each block that the measurement of the recall reads. The same vectors and parameters
    give the same bytes: a graph is built by one thread, since with more its links depend on who came first. Raises
    RetrievalError if a vector holds a NaN, which would make a graph unreachable without a word.
    """
    params = params or DenseParams()
    count = len(vectors)
    kind = resolved_kind(params, count)
    index = _empty(int(vectors.shape[1]), kind, params)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if not index.is_trained:
            index.train(np.ascontiguousarray(vectors[sampled_positions(count, _TRAINING)], dtype=np.float32))
        _reserve(index, count)
        for start in range(0, count, _BLOCK):
            block = np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32)
            if not np.isfinite(block).all():
                bad = start + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
                raise RetrievalError(f"vector {bad} of {count} holds a value that is not a number; embed it again")
            index.add(block)
            if progress is not None:
                progress(min(start + _BLOCK, count), count)
    finally:
        faiss.omp_set_num_threads(threads)
    built = FaissIndex(index)
    if kind == "flat" or count < 2:
        return DenseBuild(built, kind, None)
    return DenseBuild(built, kind, _recall(built, index, vectors, params, progress))


def build_flat(vectors: Vectors) -> FaissIndex:
    """An exact index of (N, E) vectors."""
    return build_dense(vectors, DenseParams(kind="flat")).index


def load_dense(path: Path, expected_bytes: int) -> FaissIndex:
    """Read what ``save`` wrote, of any kind.

    FAISS loads many damaged files without a complaint and then answers wrongly: the file's hash must have been checked
    before. expected_bytes: the size the manifest gives; what FAISS may allocate is limited by it all the same. Raises
    RetrievalError if the file is not an index of ours.
    """
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(expected_bytes)
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise RetrievalError(f"{path} cannot be read as a FAISS index; index the collection again") from error
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)
    if not isinstance(index, faiss.IndexFlat | faiss.IndexScalarQuantizer | faiss.IndexHNSW):
        raise RetrievalError(
            f"{path} holds a {type(index).__name__}, neither flat nor HNSW; index the collection again"
        )
    if index.metric_type != faiss.METRIC_INNER_PRODUCT:
        raise RetrievalError(f"{path} does not search by inner product; index the collection again")
    return FaissIndex(index)


def load_flat(path: Path, expected_bytes: int) -> FaissIndex:
    """``load_dense`` for a file that must hold a flat index. Raises RetrievalError if it holds another kind."""
    index = load_dense(path, expected_bytes)
    if index.search_depth is not None:
        raise RetrievalError(f"{path} holds a graph, not a flat index; index the collection again")
    return index


def _empty(dimension: int, kind: BuiltKind, params: DenseParams) -> Any:
    metric = faiss.METRIC_INNER_PRODUCT
    index: Any
    int8: Any = faiss.ScalarQuantizer.QT_8bit
    if kind == "flat":
        return faiss.IndexFlatIP(dimension)
    if kind == "flat-int8":
        return faiss.IndexScalarQuantizer(dimension, int8, metric)
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, params.links, metric)
    else:
        make: Any = faiss.IndexHNSWSQ  # its stub asks for a quantiser; the library takes its type
        index = make(dimension, int8, params.links, metric)
    index.hnsw.efConstruction = params.build_depth
    return index


def _reserve(index: Any, count: int) -> None:
    """Room for all vectors at once: growing by doubling would hold them twice, and half as many again, at the end."""
    stored: Any = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
    stored.codes.resize(count * stored.code_size)
    stored.codes.resize(0)


def _recall(
    built: FaissIndex,
    index: Any,
    vectors: Vectors,
    params: DenseParams,
    progress: Callable[[int, int], None] | None,
) -> DenseRecall:
    """Measured against the vectors as they were given, so that quantisation's loss counts too.

    Sets the depth of a graph: the given one, or the smallest doubling that reaches the target.
    """
    own = sampled_positions(len(vectors), _RECALL_QUERIES, seed=1)
    k = min(_RECALL_K, len(vectors) - 1)
    count = len(vectors)
    exact = exact_neighbours(vectors, own, k, progress=lambda _: progress(count, count) if progress else None)
    queries = np.ascontiguousarray(vectors[own], dtype=np.float32)
    if built.search_depth is None:
        return measured_recall(neighbours(built.exact(queries, k + 1), own, k), exact, k, None)
    depth = params.search_depth or 32
    while True:
        index.hnsw.efSearch = depth
        found = np.asarray(
            [[hit.position for hit in hits] + [-1] * (k + 1 - len(hits)) for hits in built.search(queries, k + 1)]
        )
        recall = measured_recall(neighbours(found, own, k), exact, k, depth)
        if params.search_depth is not None or recall.recall >= params.target_recall or depth >= _DEEPEST:
            return recall
        depth *= 2
