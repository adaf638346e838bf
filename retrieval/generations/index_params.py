"""Parameters of an index. They are stored in the manifest and covered by the generation hash."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from retrieval.chunking.chunker import ChunkingParams
from retrieval.sparse.bm25 import Bm25Params
from retrieval.sparse.tokenising import TokenisingParams
from retrieval.vectors.params import DenseParams


@dataclass(frozen=True, slots=True)
class IndexParams:
    """Parameters of the steps between a document and its index.

    chunking: splits documents into chunks. tokenising: splits chunks into words. bm25: word index. dense: vector index.
    """

    chunking: ChunkingParams = field(default_factory=ChunkingParams)
    tokenising: TokenisingParams = field(default_factory=TokenisingParams)
    bm25: Bm25Params = field(default_factory=Bm25Params)
    dense: DenseParams = field(default_factory=DenseParams)

    @classmethod
    def for_new_index(
        cls,
        chunking: ChunkingParams | None = None,
        tokenising: TokenisingParams | None = None,
        bm25: Bm25Params | None = None,
        dense: DenseParams | None = None,
    ) -> IndexParams:
        """Return parameters with the defaults of a new index for those that are None.

        The default tokenisation adapts to the scripts of the documents.
        """
        return cls(
            chunking or ChunkingParams(),
            tokenising or TokenisingParams(cjk="auto"),
            bm25 or Bm25Params(),
            dense or DenseParams(),
        )

    def for_scripts(self, bigrams_needed: bool) -> IndexParams:
        """Return the parameters with ``tokenising.cjk`` resolved if it is "auto".

        bigrams_needed: whether the documents contain scripts that need character bigrams.
        """
        if self.tokenising.cjk != "auto":
            return self
        return replace(self, tokenising=replace(self.tokenising, cjk="bigrams" if bigrams_needed else "runs"))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object. Fields that are added later must be omitted at their default, to keep hashes."""
        return {**asdict(self), "chunking": self.chunking.to_json()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> IndexParams:
        """Parse the output of ``to_json``. Raises TypeError, KeyError or ValueError if it is invalid."""
        return cls(
            chunking=ChunkingParams(**value["chunking"]),
            tokenising=TokenisingParams(**value["tokenising"]),
            bm25=Bm25Params(**value["bm25"]),
            dense=DenseParams(**value["dense"]),
        )
