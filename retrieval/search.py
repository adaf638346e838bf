"""Run the retrieval pipeline: reformulate, retrieve, rerank, deduplicate, diversify, truncate, add neighbours.

Steps that need a language model are passed as callables, because this package does not depend on generators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from model.pairs.scoring import PairScorer
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.errors import RetrievalError
from retrieval.ranking.diversity import diversify
from retrieval.ranking.duplicates import without_duplicates
from retrieval.ranking.neighbours import with_neighbours
from retrieval.ranking.reranking import rerank_many
from retrieval.reformulation.hops import HopBudget, NextQuestion, fuse_runs, retrieve_in_hops
from retrieval.retrieval_params import RetrievalParams
from retrieval.retriever import Retriever

Rewrite = Callable[[str], Sequence[str]]
"""A function from a question to texts to search with: rewrites of it, or hypothetical passages that might answer it."""


@dataclass(frozen=True, slots=True)
class SearchComponents:
    """Callables that optional steps need. None switches a step off.

    scorer: cross-encoder that reranks. rewrite: returns rewrites of the question; each is searched, and the results are
    fused by reciprocal rank (RAG-Fusion). imagine: returns hypothetical passages, whose vectors are averaged with the
    question's (HyDE, Gao et al., ACL 2023). ask_again: returns the follow-up question of multi-hop retrieval. budget:
    limits of multi-hop retrieval.
    """

    scorer: PairScorer | None = None
    rewrite: Rewrite | None = None
    imagine: Rewrite | None = None
    ask_again: NextQuestion | None = None
    budget: HopBudget = field(default_factory=HopBudget)


class Search:
    """A retriever with search parameters and optional steps; the Searcher of pipelines and evaluations."""

    def __init__(
        self, retriever: Retriever, params: RetrievalParams | None = None, helpers: SearchComponents | None = None
    ) -> None:
        """Raises RetrievalError if reranking is on without a scorer."""
        self._retriever = retriever
        self._params = params or RetrievalParams()
        self._helpers = helpers or SearchComponents()
        if self._params.rerank is not None and self._helpers.scorer is None:
            raise RetrievalError(
                "reranking needs a cross-encoder: name one, or switch reranking off", parameter="rerank"
            )

    @property
    def retriever(self) -> Retriever:
        """The underlying retriever."""
        return self._retriever

    @property
    def params(self) -> RetrievalParams:
        """The search parameters."""
        return self._params

    @property
    def non_default_settings(self) -> str:
        """``settings``, or "" at the defaults. It is part of identifiers, which the defaults must not change."""
        return "" if self.settings == Search(self._retriever).settings else self.settings

    @property
    def settings(self) -> str:
        """All settings that determine the result, except index and query, as text; most defaults are omitted."""
        default = RetrievalParams()
        parts = [f"mode={self._params.mode}"]
        if self._params.mode == "hybrid":
            parts.append(f"fusion={self._params.fusion}")
        for name in (one.name for one in fields(self._params)):
            value = getattr(self._params, name)
            if name not in ("mode", "fusion") and value != getattr(default, name):
                parts.append(f"{name}={_formatted(value)}")
        if self._params.rerank is not None and self._helpers.scorer is not None:
            parts.append(f"scorer={self._helpers.scorer.name}")
        for name in ("rewrite", "imagine", "ask_again"):
            helper = getattr(self._helpers, name)
            if helper is not None:
                parts.append(f"{name}={getattr(helper, 'name', getattr(helper, '__name__', type(helper).__name__))}")
        if self._helpers.ask_again is not None:
            parts.append(f"hops={self._helpers.budget.hops} read={self._helpers.budget.read}")
        return " ".join(parts)

    def retrieve(self, query: str, k: int) -> tuple[RetrievedChunk, ...]:
        """Return what ``retrieve_many`` returns for one query."""
        return self.retrieve_many((query,), k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """Return at most k chunks for each query, best first, plus their neighbours if enabled.

        The results equal those of single queries, except that an encoder or scorer that pads its batches may change the
        last bits of scores. Raises RetrievalError for an empty query, k below 1, or filter keys that no document has.
        """
        ask = self._helpers.ask_again
        if ask is not None:
            budget = self._helpers.budget
            return tuple(retrieve_in_hops(self._search_rewrites, query, k, ask, budget).found for query in queries)
        return self._search_rewrites(queries, k)

    def _search_rewrites(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        """Return the results of each query; those of its rewrites, if any, are fused with its own."""
        rewrite = self._helpers.rewrite
        if rewrite is None:
            return self._retrieve_and_rerank(queries, k)
        expanded = [_with_rewrites(query, rewrite) for query in queries]
        found = iter(self._retrieve_and_rerank([text for rewrites in expanded for text in rewrites], k))
        return tuple(fuse_runs([next(found) for _ in rewrites], k) for rewrites in expanded)

    def _retrieve_and_rerank(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        params, retriever = self._params, self._retriever
        count = max(k, params.min_candidates)
        if params.deduplicate is not None:
            # Fetch extra chunks to replace those that are dropped, but not more than the depth: that would change the
            # normalised scores.
            count = max(count, min(2 * count, params.depth))
        found = retriever.fused_many(queries, count if k >= 1 else k, params, self._query_vectors(queries))
        if params.rerank is not None and self._helpers.scorer is not None:
            found = rerank_many(queries, found, self._helpers.scorer, params.rerank)
        return tuple(self._select(items, k) for items in found)

    def _select(self, found: Sequence[RetrievedChunk], k: int) -> tuple[RetrievedChunk, ...]:
        params, retriever = self._params, self._retriever
        items = tuple(found)
        if params.deduplicate is not None:
            items = without_duplicates(items, params.deduplicate, max(k, params.mmr.depth if params.mmr else 1))
        if params.mmr is not None:
            head = [item.chunk for item in items[: params.mmr.depth]]
            items = diversify(items, retriever.vectors(head), params.mmr, k) if head else items
        items = items[:k]
        if params.neighbours:
            items = with_neighbours(items, retriever.chunks, retriever.position, params.neighbours)
        return items

    def _query_vectors(self, queries: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the (Q, E) unit-length means of each query's vector and its hypothetical passages' vectors.

        Returns None if the step is off.
        """
        if self._helpers.imagine is None or self._params.mode == "bm25" or not queries:
            return None
        encoder = self._retriever.encoder
        means = encoder.encode_queries(queries).astype(np.float64)
        for row, query in enumerate(queries):
            passages = [text for text in self._helpers.imagine(query) if text.strip()]
            if passages:
                vectors = encoder.encode_passages(passages).astype(np.float64)
                means[row] = (means[row] + vectors.sum(axis=0)) / (1 + len(passages))
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return np.asarray(means / np.maximum(lengths, 1e-12), dtype=np.float32)


def _with_rewrites(query: str, rewrite: Rewrite) -> tuple[str, ...]:
    return tuple(dict.fromkeys((query, *(text for text in rewrite(query) if text.strip()))))


def _formatted(value: object) -> str:
    return "(" + ", ".join(map(str, value)) + ")" if isinstance(value, tuple) else str(value)
