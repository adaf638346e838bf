"""Parameters of retrieval: the retrievers, their fusion, and optional steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from retrieval.ranking.diversity import MmrParams
from retrieval.ranking.filtering import Filter
from retrieval.ranking.reranking import RerankParams
from retrieval.reformulation.rm3 import Rm3Params

Mode = Literal["hybrid", "dense", "bm25"]
Fusion = Literal["minmax", "rrf", "zscore"]


@dataclass(frozen=True, slots=True)
class RetrievalParams:
    """Parameters of retrieval. Optional steps are off by default.

    mode: which retrievers run. fusion: how hybrid mode combines their scores. depth: number of candidates from each
    retriever. dense_weight: weight of the dense retriever in the fusion, in [0, 1]; the lexical retriever gets the
    remainder. rrf_constant: k of reciprocal rank fusion. filters: metadata filters, which a document must all pass.
    rm3: parameters of query expansion with words of the first lexical results. rerank: parameters of reranking with a
    cross-encoder. deduplicate: resemblance in (0, 1] to a better chunk from which on a chunk is dropped. mmr:
    parameters of maximal marginal relevance. neighbours: number of chunks added on each side of every retrieved chunk.
    """

    mode: Mode = "hybrid"
    fusion: Fusion = "minmax"
    depth: int = 100
    dense_weight: float = 0.5
    rrf_constant: float = 60.0
    filters: tuple[Filter, ...] = ()
    rm3: Rm3Params | None = None
    rerank: RerankParams | None = None
    deduplicate: float | None = None
    mmr: MmrParams | None = None
    neighbours: int = 0

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.fusion not in get_args(Fusion):
            raise ValueError(f"fusion must be one of {', '.join(get_args(Fusion))}, not {self.fusion!r}")
        if self.depth < 1:
            raise ValueError(f"depth must be at least 1, not {self.depth}")
        if not 0 <= self.dense_weight <= 1:
            raise ValueError(f"dense_weight must lie in [0, 1], not {self.dense_weight}")
        if not self.rrf_constant >= 0:
            raise ValueError(f"rrf_constant must not be negative, not {self.rrf_constant}")
        if self.deduplicate is not None and not 0 < self.deduplicate <= 1:
            raise ValueError(f"deduplicate must lie in (0, 1], not {self.deduplicate}")
        if self.neighbours < 0:
            raise ValueError(f"neighbours must not be negative, not {self.neighbours}")

    @property
    def min_candidates(self) -> int:
        """Smallest number of fused chunks that reranking and MMR need; the search uses k if k is larger."""
        depths = [1]
        if self.rerank is not None:
            depths.append(self.rerank.depth)
        if self.mmr is not None:
            depths.append(self.mmr.depth)
        return max(depths)
