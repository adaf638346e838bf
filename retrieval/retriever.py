"""Answers queries from one generation: by words, by vectors, or by both fused. Knows nothing of how it was built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from retrieval.chunks import Chunk, RetrievedChunk
from retrieval.encoder import Encoder
from retrieval.errors import RetrievalError
from retrieval.fusion import fuse_min_max, fuse_reciprocal_rank
from retrieval.generations import Generation
from retrieval.hits import Hit
from retrieval.tokenising import tokenise

Mode = Literal["hybrid", "dense", "bm25"]
Fusion = Literal["minmax", "rrf"]


@dataclass(frozen=True, slots=True)
class RetrievalParams:
    """mode: which retrievers are asked. fusion: how a hybrid joins them. depth: how many chunks each may put forward.

    dense_weight: of the vectors under "minmax", in [0, 1]; the words have the rest. rrf_constant: the k of reciprocal
    rank.
    """

    mode: Mode = "hybrid"
    fusion: Fusion = "minmax"
    depth: int = 100
    dense_weight: float = 0.5
    rrf_constant: float = 60.0

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.fusion not in get_args(Fusion):
            raise ValueError(f"fusion must be one of {', '.join(get_args(Fusion))}, not {self.fusion!r}")
        if self.depth < 1:
            raise ValueError(f"depth must be at least 1, not {self.depth}")
        if not 0 <= self.dense_weight <= 1:
            raise ValueError(f"dense_weight must lie in [0, 1], not {self.dense_weight}")
        if self.rrf_constant < 0:
            raise ValueError(f"rrf_constant must not be negative, not {self.rrf_constant}")


class Retriever:
    """Retrieves from one generation, whatever is published meanwhile; safe to use from several threads."""

    def __init__(
        self, generation: Generation, chunks: Sequence[Chunk], encoder: Encoder, is_current: Callable[[], bool]
    ):
        """chunks: one for every row of the generation's table. is_current: whether it is still the published one."""
        self._generation = generation
        self._chunks = tuple(chunks)
        self._encoder = encoder
        self._is_current = is_current

    @property
    def generation_hash(self) -> str:
        """Names exactly what is being searched, for reports and caches."""
        return self._generation.manifest.hash

    @property
    def size(self) -> int:
        """How many chunks are searched."""
        return len(self._chunks)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks, in index order: by document id, then by offset."""
        return self._chunks

    def is_current(self) -> bool:
        """Whether this is still the generation that is published; if not, open the collection again."""
        return self._is_current()

    def retrieve(
        self,
        query: str,
        k: int,
        mode: Mode = "hybrid",
        fusion: Fusion = "minmax",
        depth: int = 100,
        dense_weight: float = 0.5,
    ) -> tuple[RetrievedChunk, ...]:
        """The k best chunks for a query, best first, equal scores in index order; fewer if fewer were found.

        Words alone may find nothing. Raises RetrievalError for an empty query, k below 1, or bad parameters.
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
        """``retrieve`` for each query; they go through the encoder together."""
        try:
            params = RetrievalParams(mode, fusion, max(depth, k) if depth >= 1 else depth, dense_weight)
        except ValueError as error:
            raise RetrievalError(str(error)) from error
        if k < 1:
            raise RetrievalError(f"k must be at least 1, not {k}: ask for the number of chunks that you want")
        for query in queries:
            _check(query)
        nothing: tuple[tuple[Hit, ...], ...] = ((),) * len(queries)
        dense = self._dense(queries, params.depth) if params.mode != "bm25" else nothing
        sparse = self._sparse(queries, params.depth) if params.mode != "dense" else nothing
        return tuple(self._fused(d, s, k, params) for d, s in zip(dense, sparse, strict=True))

    def _dense(self, queries: Sequence[str], depth: int) -> tuple[tuple[Hit, ...], ...]:
        if not queries:
            return ()
        return self._generation.dense.search(self._encoder.encode_queries(queries), depth)

    def _sparse(self, queries: Sequence[str], depth: int) -> tuple[tuple[Hit, ...], ...]:
        tokenising = self._generation.manifest.params.tokenising
        return tuple(self._generation.lexical.search(tokenise(query, tokenising), depth) for query in queries)

    def _fused(
        self, dense: tuple[Hit, ...], sparse: tuple[Hit, ...], k: int, params: RetrievalParams
    ) -> tuple[RetrievedChunk, ...]:
        if params.mode == "dense":
            fused = dense
        elif params.mode == "bm25":
            fused = sparse
        elif params.fusion == "rrf":
            fused = fuse_reciprocal_rank((dense, sparse), params.rrf_constant)
        else:
            fused = fuse_min_max((dense, sparse), (params.dense_weight, 1.0 - params.dense_weight))
        by_dense = {hit.position: (rank, hit.score) for rank, hit in enumerate(dense, start=1)}
        by_sparse = {hit.position: (rank, hit.score) for rank, hit in enumerate(sparse, start=1)}
        retrieved: list[RetrievedChunk] = []
        for rank, hit in enumerate(fused[:k], start=1):
            dense_rank, dense_score = by_dense.get(hit.position, (None, None))
            sparse_rank, sparse_score = by_sparse.get(hit.position, (None, None))
            retrieved.append(
                RetrievedChunk(
                    chunk=self._chunks[hit.position],
                    score=hit.score,
                    rank=rank,
                    dense_rank=dense_rank,
                    dense_score=dense_score,
                    sparse_rank=sparse_rank,
                    sparse_score=sparse_score,
                )
            )
        return tuple(retrieved)


def _check(query: str) -> None:
    if not query.strip():
        raise RetrievalError("the query is empty: ask something")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise RetrievalError(
            "the query holds half of a surrogate pair, which is no character; repair its encoding"
        ) from error
