"""Retrieve chunks from one generation by lexical, dense or hybrid search."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunker import searchable_text
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.encoding.encoder import Encoder
from retrieval.errors import RetrievalError
from retrieval.generations.folder import Generation
from retrieval.ranking.filtering import DocumentFilters, Filter, Metadata
from retrieval.ranking.fusion import fuse_min_max, fuse_reciprocal_rank, fuse_z_score
from retrieval.ranking.hits import NO_HITS, Hit, Hits
from retrieval.reformulation.rm3 import Rm3Params, rm3
from retrieval.retrieval_params import Fusion, Mode, RetrievalParams
from retrieval.sparse.tokenising import tokenise

__all__ = ["Candidates", "Fusion", "Mode", "RetrievalParams", "Retriever"]

_CACHED_MASKS = 8


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates of each retriever for one query, best first. A list is empty if its retriever did not run."""

    dense: Sequence[Hit]
    sparse: Sequence[Hit]


class Retriever:
    """A retriever of chunks from one generation, even after a newer one is published. Thread-safe."""

    def __init__(
        self,
        generation: Generation,
        chunks: Sequence[Chunk],
        encoder: Encoder,
        is_current: Callable[[], bool],
        metadata: Mapping[str, Metadata] | None = None,
    ):
        """chunks: the chunk of every row of the generation's table, in order. encoder: encodes the queries.

        is_current: returns whether the generation is still published. metadata: (key, value) pairs by document ID, for
        filters.
        """
        self._generation = generation
        self._chunks = tuple(chunks)
        self._encoder = encoder
        self._is_current = is_current
        self._metadata = metadata or {}
        self._masks: dict[tuple[Filter, ...], NDArray[np.bool_]] = {}
        self._lock = Lock()

    @property
    def generation_hash(self) -> str:
        """Hash of the generation, for reports and caches."""
        return self._generation.manifest.hash

    @property
    def indexed_with(self) -> str:
        """Fingerprint of the encoder that embedded the chunks."""
        return self._generation.manifest.encoder

    @property
    def size(self) -> int:
        """Number of chunks in the index."""
        return len(self._chunks)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks, in index order: by document id, then by offset."""
        return self._chunks

    @property
    def encoder(self) -> Encoder:
        """The query encoder."""
        return self._encoder

    @cached_property
    def filters(self) -> DocumentFilters:
        """The keys and values that filters can use."""
        return DocumentFilters(self._chunks, self._metadata)

    def is_current(self) -> bool:
        """Return whether this generation is still published; if not, reopen the collection."""
        return self._is_current()

    def position(self, chunk: Chunk) -> int:
        """Return the index of the chunk in ``chunks``. Raises RetrievalError if it is not in this index."""
        key = (chunk.document_id, chunk.start, chunk.end)
        index = bisect_left(self._chunks, key, key=lambda chunk: (chunk.document_id, chunk.start, chunk.end))
        if index == len(self._chunks) or self._chunks[index].id != chunk.id:
            raise RetrievalError(f"the chunk {chunk.id!r} is not in this index")
        return index

    def vectors(self, chunks: Sequence[Chunk]) -> NDArray[np.float32]:
        """Return the stored vectors (P, E) of P chunks. Raises RetrievalError if a chunk is not in this index."""
        positions = np.asarray([self.position(chunk) for chunk in chunks], dtype=np.int64)
        return self._generation.dense.vectors(positions)

    def words(self, text: str) -> tuple[str, ...]:
        """Tokenise the text as this index does; empty if it holds only stop words or punctuation."""
        return tokenise(text, self._generation.manifest.params.tokenising)

    def retrieve(
        self,
        query: str,
        k: int,
        mode: Mode = "hybrid",
        fusion: Fusion = "minmax",
        depth: int = 100,
        dense_weight: float = 0.5,
    ) -> tuple[RetrievedChunk, ...]:
        """Return the k best chunks for a query, best first, ties in index order; fewer if fewer were found.

        Lexical mode may find nothing. Raises RetrievalError for an empty query, k below 1, or invalid parameters.
        """
        return self.retrieve_many((query,), k, mode, fusion, depth, dense_weight)[0]

    def retrieve_many(
        self,
        queries: Sequence[str],
        k: int,
        mode: Mode = "hybrid",
        fusion: Fusion = "minmax",
        depth: int = 100,
        dense_weight: float = 0.5,
    ) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """Return what ``retrieve`` returns for each query. The queries are encoded together."""
        try:
            params = RetrievalParams(mode, fusion, depth, dense_weight)
        except ValueError as error:
            raise RetrievalError(str(error)) from error
        return self.fused_many(queries, k, params)

    def fused_many(
        self,
        queries: Sequence[str],
        k: int,
        params: RetrievalParams,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """Return the k best chunks of each query after the fusion; retrieval/search.py runs the later steps.

        vectors: (Q, E) query vectors to use instead of encoding the queries. Raises RetrievalError for an empty query,
        for k below 1, and for filter keys that no document has.
        """
        if k < 1:
            raise RetrievalError(f"k must be at least 1, not {k}: it is the number of chunks to return")
        params = replace(params, depth=max(params.depth, k))
        found = self.candidates_many(queries, params, vectors)
        return tuple(self.fuse(candidates, k, params) for candidates in found)

    def candidates_many(
        self, queries: Sequence[str], params: RetrievalParams, vectors: NDArray[np.float32] | None = None
    ) -> tuple[Candidates, ...]:
        """Return the results of each retriever for each query, before the fusion. Parameters as in ``fused_many``."""
        for query in queries:
            _check(query)
        allowed = self._allowed(params.filters)
        dense = sparse = (NO_HITS,) * len(queries)
        if params.mode != "bm25" and queries:
            query_vectors = self._encoder.encode_queries(queries) if vectors is None else vectors
            dense = self._generation.dense.search(query_vectors, params.depth, allowed)
        if params.mode != "dense":
            sparse = tuple(self._sparse(query, params.depth, allowed, params.rm3) for query in queries)
        return tuple(Candidates(one, other) for one, other in zip(dense, sparse, strict=True))

    def fuse(self, candidates: Candidates, k: int, params: RetrievalParams) -> tuple[RetrievedChunk, ...]:
        """Fuse both lists as ``params`` say and return the k best chunks."""
        best = fused_hits(candidates, params)[:k]
        dense, sparse = (
            _ranked_scores(one, best.positions) for one in (Hits.of(candidates.dense), Hits.of(candidates.sparse))
        )
        retrieved: list[RetrievedChunk] = []
        for rank, (hit, in_dense, in_sparse) in enumerate(zip(best, dense, sparse, strict=True), start=1):
            retrieved.append(
                RetrievedChunk(
                    chunk=self._chunks[hit.position],
                    score=hit.score,
                    rank=rank,
                    dense_rank=in_dense.rank,
                    dense_score=in_dense.score,
                    sparse_rank=in_sparse.rank,
                    sparse_score=in_sparse.score,
                )
            )
        return tuple(retrieved)

    def _sparse(self, query: str, depth: int, allowed: NDArray[np.bool_] | None, feedback: Rm3Params | None) -> Hits:
        lexical, words = self._generation.lexical, self.words(query)
        if feedback is None:
            return lexical.search(words, depth, allowed)
        first = lexical.search(words, feedback.passages, allowed)
        passages = [self.words(searchable_text(self._chunks[hit.position])) for hit in first]
        return lexical.search_weighted(rm3(words, passages, [hit.score for hit in first], feedback), depth, allowed)

    def _allowed(self, filters: tuple[Filter, ...]) -> NDArray[np.bool_] | None:
        if not filters:
            return None
        with self._lock:
            mask = self._masks.get(filters)
        if mask is None:
            mask = self.filters.allowed(filters)
            with self._lock:
                while len(self._masks) >= _CACHED_MASKS:
                    self._masks.pop(next(iter(self._masks)))
                self._masks[filters] = mask
        return mask


def fused_hits(candidates: Candidates, params: RetrievalParams) -> Hits:
    """Fuse both lists by mode, fusion and weights, and return the hits, best first. A pure function."""
    if params.mode == "dense":
        return Hits.of(candidates.dense)
    if params.mode == "bm25":
        return Hits.of(candidates.sparse)
    runs = (candidates.dense, candidates.sparse)
    weights = (params.dense_weight, 1.0 - params.dense_weight)
    if params.fusion == "rrf":
        # Doubled, so that equal weights give the published formula.
        return fuse_reciprocal_rank(runs, params.rrf_constant, (2 * weights[0], 2 * weights[1]))
    return fuse_z_score(runs, weights) if params.fusion == "zscore" else fuse_min_max(runs, weights)


class _RankedScore(NamedTuple):
    """Rank and score of a chunk in one retriever; None if it was not returned."""

    rank: int | None
    score: float | None


def _ranked_scores(hits: Hits, positions: NDArray[np.int64]) -> list[_RankedScore]:
    """Return the rank and score of each position in ``hits``."""
    order = np.argsort(hits.positions)
    insertions = np.searchsorted(hits.positions, positions, sorter=order)
    ranks = np.append(order, -1)[insertions]  # -1 for a position after the last one
    return [
        _RankedScore(rank + 1, float(hits.scores[rank]))
        if rank >= 0 and hits.positions[rank] == position
        else _NOT_RANKED
        for rank, position in zip(ranks.tolist(), positions.tolist(), strict=True)
    ]


_NOT_RANKED = _RankedScore(None, None)


def _check(query: str) -> None:
    if not query.strip():
        raise RetrievalError("the query is empty: ask something")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise RetrievalError(
            "the query contains an unpaired surrogate, which is not a valid character: correct its encoding"
        ) from error
