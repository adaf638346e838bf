"""Rerank the top chunks with a cross-encoder, which reads query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.pairs.scoring import Pair, PairScorer
from retrieval.chunking.chunker import searchable_text
from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class RerankParams:
    """Parameters of reranking. depth: number of top chunks to rerank; the others follow in their old order."""

    depth: int = 50

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ValueError(f"the depth of reranking must be at least 1, not {self.depth}")


def rerank_many(
    queries: Sequence[str],
    found: Sequence[Sequence[RetrievedChunk]],
    scorer: PairScorer,
    params: RerankParams,
) -> tuple[tuple[RetrievedChunk, ...], ...]:
    """Rerank the first ``depth`` chunks of each list by the scorer's support. All pairs are scored in one call.

    The evidence is the chunk's title and text, and the claim is the query; the scorer truncates evidence that does not
    fit. Ties keep their order. Chunks after ``depth`` keep their order and get scores below all reranked chunks.
    """
    pairs = [
        Pair(searchable_text(item.chunk), query)
        for query, items in zip(queries, found, strict=True)
        for item in items[: params.depth]
    ]
    scores = iter(scorer.score(pairs) if pairs else ())
    ordered: list[tuple[RetrievedChunk, ...]] = []
    for items in found:
        reranked = [replace(item, score=next(scores)) for item in items[: params.depth]]
        reranked.sort(key=lambda item: -item.score)
        floor = min((item.score for item in reranked), default=0.0)
        not_reranked = [replace(item, score=floor - index) for index, item in enumerate(items[params.depth :], start=1)]
        ordered.append(tuple(replace(item, rank=rank) for rank, item in enumerate((*reranked, *not_reranked), start=1)))
    return tuple(ordered)
