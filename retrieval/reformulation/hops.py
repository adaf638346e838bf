"""Multi-hop retrieval: search, read the results, and search again for missing facts, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from retrieval.chunking.chunks import RetrievedChunk
from retrieval.ranking.fusion import reciprocal_rank

Retrieve = Callable[[Sequence[str], int], Sequence[Sequence[RetrievedChunk]]]
AskAgain = Callable[[str, Sequence[RetrievedChunk]], str | None]
"""(question, chunks found so far, best first) -> the next query; None or blank if nothing is missing."""


@dataclass(frozen=True, slots=True)
class HopBudget:
    """hops: maximum number of searches. read: number of chunks shown to the query writer."""

    hops: int = 2
    read: int = 4

    def __post_init__(self) -> None:
        if self.hops < 1 or self.read < 1:
            raise ValueError(f"a budget needs at least one hop and one chunk to read, not {self.hops} and {self.read}")


@dataclass(frozen=True, slots=True)
class HopResult:
    """queries: all queries, the question first. found: best first, fused over all hops."""

    queries: tuple[str, ...]
    found: tuple[RetrievedChunk, ...]


def retrieve_in_hops(retrieve: Retrieve, question: str, k: int, ask_again: AskAgain, budget: HopBudget) -> HopResult:
    """Search, pass the best chunks to ``ask_again``, search for its query, and so on; results are fused by reciprocal
    rank.

    Stops when the budget is spent, when there is no further query, or when a query repeats. One hop gives exactly the
    result of ``retrieve``.
    """
    queries = [question]
    runs = [tuple(retrieve((question,), k)[0])]
    while len(queries) < budget.hops:
        next_queries = ask_again(question, fuse_runs(runs, k)[: budget.read])
        if next_queries is None or not next_queries.strip() or next_queries in queries:
            break
        queries.append(next_queries)
        runs.append(tuple(retrieve((next_queries,), k)[0]))
    return HopResult(tuple(queries), fuse_runs(runs, k))


def fuse_runs(runs: Sequence[Sequence[RetrievedChunk]], k: int) -> tuple[RetrievedChunk, ...]:
    """Return the k best chunks of several runs by reciprocal rank; a single run is returned unchanged.

    Retriever ranks and scores of a chunk come from the first run that has it. Ties by that order.
    """
    if len(runs) == 1:
        return tuple(runs[0][:k])
    totals: dict[str, float] = {}
    first: dict[str, RetrievedChunk] = {}
    for run in runs:
        for rank, item in enumerate(run, start=1):
            totals[item.chunk.id] = totals.get(item.chunk.id, 0.0) + reciprocal_rank(rank)
            first.setdefault(item.chunk.id, item)
    order = sorted(first, key=lambda key: -totals[key])[:k]
    return tuple(replace(first[key], score=totals[key], rank=rank) for rank, key in enumerate(order, start=1))


def by_best_title(question: str, found: Sequence[RetrievedChunk]) -> str | None:
    """Write the next query without a language model: the question and the best chunk title that it lacks.

    A question that needs two articles often names only the first; the chunks of that article name the second.
    """
    known = question.lower()
    for item in found:
        title = item.chunk.title.strip()
        if title and title.lower() not in known:
            return f"{question} {title}"
    return None
