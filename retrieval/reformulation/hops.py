"""Multi-hop retrieval: search, read the results, and search again for missing facts, up to a number of searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from retrieval.chunking.chunks import RetrievedChunk
from retrieval.ranking.fusion import reciprocal_rank

Retrieve = Callable[[Sequence[str], int], Sequence[Sequence[RetrievedChunk]]]
NextQuestion = Callable[[str, Sequence[RetrievedChunk]], str | None]
"""A function from the question and the chunks found so far, best first, to the next query; None or "" to stop."""


@dataclass(frozen=True, slots=True)
class HopBudget:
    """Limits of multi-hop retrieval.

    hops: largest number of searches. read: number of chunks passed to NextQuestion.
    """

    hops: int = 2
    read: int = 4

    def __post_init__(self) -> None:
        if self.hops < 1 or self.read < 1:
            raise ValueError(f"a budget needs at least one hop and one chunk to read, not {self.hops} and {self.read}")


@dataclass(frozen=True, slots=True)
class HopResult:
    """Result of multi-hop retrieval. queries: all queries, the question first. found: fused chunks, best first."""

    queries: tuple[str, ...]
    found: tuple[RetrievedChunk, ...]


def retrieve_in_hops(
    retrieve: Retrieve, question: str, k: int, ask_again: NextQuestion, budget: HopBudget
) -> HopResult:
    """Search repeatedly, with queries that ``ask_again`` writes, and fuse the results by reciprocal rank.

    ``ask_again`` receives the best chunks found so far. The search stops when the budget is spent, when there is no
    next query, or when a query repeats. k: number of chunks to return. With one hop, the result is that of
    ``retrieve``.
    """
    queries = [question]
    runs = [tuple(retrieve((question,), k)[0])]
    while len(queries) < budget.hops:
        next_query = ask_again(question, fuse_runs(runs, k)[: budget.read])
        if next_query is None or not next_query.strip() or next_query in queries:
            break
        queries.append(next_query)
        runs.append(tuple(retrieve((next_query,), k)[0]))
    return HopResult(tuple(queries), fuse_runs(runs, k))


def fuse_runs(runs: Sequence[Sequence[RetrievedChunk]], k: int) -> tuple[RetrievedChunk, ...]:
    """Return the k best chunks of several runs by reciprocal rank. A single run is only truncated to k chunks.

    The retrievers' ranks and scores of a chunk come from the first run that contains it. Ties keep the order in which
    the chunks first appear.
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
    """Return the question followed by the first chunk title that it lacks, None if it contains all titles.

    This is a ``NextQuestion`` without a language model. A question that needs two articles often names only the first,
    and a search for it often finds chunks of the second.
    """
    known = question.lower()
    for item in found:
        title = item.chunk.title.strip()
        if title and title.lower() not in known:
            return f"{question} {title}"
    return None
