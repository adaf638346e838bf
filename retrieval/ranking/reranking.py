"""The first chunks in the order of a cross-encoder, which reads query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.pairs.scoring import Pair, PairScorer
from retrieval.chunking.chunker import searchable_text
from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class RerankParams:
    """depth: how many of the first chunks are read again; the others keep their order behind them."""

    depth: int = 50

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ValueError(f"a reranker must read at least one chunk, not {self.depth}")


def rerank_many(
    queries: Sequence[str],
    found: Sequence[Sequence[RetrievedChunk]],
    scorer: PairScorer,
    params: RerankParams,
) -> tuple[tuple[RetrievedChunk, ...], ...]:
    """Each list with its first ``depth`` by the scorer's support, the pairs of all queries scored in one call.

    Title and text are the evidence, the query is the claim; what does not fit beside the query is cut off by the
    scorer. Equal scores keep their order. Chunks behind the depth keep theirs, with a score below all that were read.
    """
    pairs = [
        Pair(searchable_text(item.chunk), query)
        for query, items in zip(queries, found, strict=True)
        for item in items[: params.depth]
    ]
    scores = iter(scorer.score(pairs) if pairs else ())
    ordered: list[tuple[RetrievedChunk, ...]] = []
    for items in found:
        read = [replace(item, score=next(scores)) for item in items[: params.depth]]
        read.sort(key=lambda item: -item.score)
        floor = min((item.score for item in read), default=0.0)
        unread = [replace(item, score=floor - place) for place, item in enumerate(items[params.depth :], start=1)]
        ordered.append(tuple(replace(item, rank=rank) for rank, item in enumerate((*read, *unread), start=1)))
    return tuple(ordered)
