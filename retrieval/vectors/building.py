"""Build and load vector indexes (flat, HNSW or IVF, optionally quantised), and measure their recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from retrieval.errors import RetrievalError
from retrieval.vectors.faiss_index import FaissIndex, Vectors
from retrieval.vectors.params import BuiltKind, DenseParams, list_count, resolved_kind
from retrieval.vectors.recall import DenseRecall, Positions, sampled_positions
from retrieval.vectors.search_depth import recall_trial, tune_search_depth

_BLOCK = 4_096
_TRAINING_VECTORS = 20_000
_VECTORS_PER_LIST = 64
"""Training vectors for each IVF list: FAISS needs at least 39 and uses up to 256."""
_KMEANS_ROUNDS = 10
_LISTS = ("ivf", "ivf-int8")


@dataclass(frozen=True, slots=True)
class DenseBuild:
    """A built index. kind: kind of the index. recall: measured recall; None if it is exact or has under 2 vectors."""

    index: FaissIndex
    kind: BuiltKind
    recall: DenseRecall | None


def build_dense(
    vectors: Vectors, params: DenseParams | None = None, progress: Callable[[int, int], None] | None = None
) -> DenseBuild:
    """Build an index of (N, E) vectors. For L2-normalised vectors the inner product is the cosine.

    vectors: may be a np.memmap. It is read in blocks, twice for IVF. progress: called with (number of vectors done, N)
    after each block (for IVF, after its vectors are assigned to lists), and with (N, N) for each block that is read to
    measure the recall. The same vectors and parameters give the same bytes: the build uses one thread, because a
    graph's links and the sums of k-means depend on the order of threads. Raises RetrievalError if a vector contains a
    NaN or an infinity, which would make parts of a graph unreachable.
    """
    params = params or DenseParams()
    count = len(vectors)
    kind = resolved_kind(params, count)
    index = _empty_index(int(vectors.shape[1]), count, kind, params)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        if not index.is_trained and count:
            sample_size = max(_TRAINING_VECTORS, list_count(count) * _VECTORS_PER_LIST if kind in _LISTS else 0)
            positions = sampled_positions(count, sample_size)
            index.train(_check_finite(vectors[positions], positions, count))
        if kind in _LISTS:
            _add_to_lists(index, vectors, progress)
        else:
            _add_vectors(index, vectors, progress)
    finally:
        faiss.omp_set_num_threads(threads)
    built = FaissIndex(index)
    if kind == "flat" or count < 2:
        return DenseBuild(built, kind, None)
    return DenseBuild(built, kind, _measure_recall(built, vectors, params, kind, progress))


def build_flat(vectors: Vectors) -> FaissIndex:
    """Build an exact index of (N, E) vectors."""
    return build_dense(vectors, DenseParams(kind="flat")).index


def load_dense(path: Path, expected_bytes: int) -> FaissIndex:
    """Load an index of any kind that ``save`` wrote.

    The caller must check the file's hash first, because FAISS loads many damaged files without an error and then gives
    wrong results. expected_bytes: size in the manifest, which limits FAISS's allocations. Raises RetrievalError if the
    file is not an index of a known kind.
    """
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(expected_bytes)
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise RetrievalError(f"{path} cannot be read as a FAISS index; index the collection again") from error
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)
    if not isinstance(index, faiss.IndexFlat | faiss.IndexScalarQuantizer | faiss.IndexHNSW | faiss.IndexIVF):
        raise RetrievalError(
            f"{path} contains a {type(index).__name__}, not a flat, HNSW or IVF index; index the collection again"
        )
    if index.metric_type != faiss.METRIC_INNER_PRODUCT:
        raise RetrievalError(f"{path} does not search by inner product; index the collection again")
    return FaissIndex(index)


def load_flat(path: Path, expected_bytes: int) -> FaissIndex:
    """Load a flat index that ``save`` wrote. Raises RetrievalError if the file holds another kind of index."""
    index = load_dense(path, expected_bytes)
    if index.search_depth is not None:
        raise RetrievalError(f"{path} contains an HNSW or IVF index, not a flat index; index the collection again")
    return index


def _check_finite(block: Vectors, positions: Positions, count: int) -> Vectors:
    """Return a block of (P, E) vectors as a contiguous array.

    positions: (P,) positions of the vectors, of ``count`` in total. Raises RetrievalError, naming the position of the
    first vector that is not finite.
    """
    block = np.ascontiguousarray(block, dtype=np.float32)
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        first_bad = int(positions[np.flatnonzero(~finite)[0]])
        raise RetrievalError(f"vector {first_bad} of {count} contains a value that is not a number; embed it again")
    return block


def _empty_index(dimension: int, count: int, kind: BuiltKind, params: DenseParams) -> Any:
    metric = faiss.METRIC_INNER_PRODUCT
    index: Any
    int8: Any = faiss.ScalarQuantizer.QT_8bit
    if kind == "flat":
        return faiss.IndexFlatIP(dimension)
    if kind == "flat-int8":
        return faiss.IndexScalarQuantizer(dimension, int8, metric)
    if kind in _LISTS:
        centres = faiss.IndexFlatIP(dimension)
        lists = list_count(count)
        if kind == "ivf":
            index = faiss.IndexIVFFlat(centres, dimension, lists, metric)
        else:
            make_lists: Any = faiss.IndexIVFScalarQuantizer
            index = make_lists(centres, dimension, lists, int8, metric)
        index.cp.spherical = True  # unit-length centroids, like the vectors
        index.cp.niter = _KMEANS_ROUNDS
        index.cp.min_points_per_centroid = 1  # suppress the warning for few vectors
        index.cp.max_points_per_centroid = _VECTORS_PER_LIST
        return index
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, params.links, metric)
    else:
        make_index: Any = faiss.IndexHNSWSQ  # the type stub wrongly requires a quantiser instead of its type
        index = make_index(dimension, int8, params.links, metric)
    index.hnsw.efConstruction = params.build_depth
    return index


def vector_blocks(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Yield (start, vectors) for each block. Raises RetrievalError if a vector is not finite."""
    count = len(vectors)
    for start in range(0, count, _BLOCK):
        yield start, _check_finite(vectors[start : start + _BLOCK], np.arange(start, min(start + _BLOCK, count)), count)


def _add_vectors(index: Any, vectors: Vectors, progress: Callable[[int, int], None] | None) -> None:
    """Add the vectors to a flat or HNSW index.

    Memory is reserved for all vectors at once, because growing by doubling would need two and a half times their size.
    """
    count = len(vectors)
    stored: Any = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
    stored.codes.resize(count * stored.code_size)
    stored.codes.resize(0)
    for start, block in vector_blocks(vectors):
        index.add(block)
        if progress is not None:
            progress(start + len(block), count)


def _add_to_lists(index: Any, vectors: Vectors, progress: Callable[[int, int], None] | None) -> None:
    """Add the vectors to an IVF index, and allocate each list only once.

    Lists that grow by doubling, as ``index.add`` lets them, need nearly twice the memory.
    """
    count = len(vectors)
    lists: NDArray[np.int64] = np.empty(count, np.int64)
    for start, block in vector_blocks(vectors):
        lists[start : start + len(block)] = index.quantizer.assign(block, 1)[:, 0]
        if progress is not None:
            progress(start + len(block), count)
    for number, length in enumerate(np.bincount(lists, minlength=index.nlist)):
        index.invlists.resize(number, int(length))
        index.invlists.resize(number, 0)
    for start, block in vector_blocks(vectors):
        assigned = lists[start : start + len(block)]
        index.add_core(len(block), faiss.swig_ptr(block), None, faiss.swig_ptr(assigned))
    index.make_direct_map()  # maps positions to lists, so that vectors can be returned by position


def _measure_recall(
    built: FaissIndex,
    vectors: Vectors,
    params: DenseParams,
    kind: BuiltKind,
    progress: Callable[[int, int], None] | None,
) -> DenseRecall:
    """Measure the recall against the original vectors, so that it includes the loss of quantisation."""
    trial = recall_trial(vectors, progress)
    ceiling = None
    if params.quantisation != "none":
        ceiling = trial.recall(built.exact(trial.queries, trial.k + 1), None)
        if built.search_depth is None:
            return ceiling
    return tune_search_depth(built, trial, params, 8 if kind in _LISTS else 32, ceiling)
