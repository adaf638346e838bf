"""Retrieve evidence for claims from gold passages or a trusted collection, independent of the arm."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.evidence.passages import PassageSource, Searcher, gold_chunks
from retrieval.chunking.chunks import Chunk

DEFAULT_K = 5
_DEPTH = 100
_QUERY_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A claim that needs evidence.

    claim: text of the claim as a scorer reads it.
    answer: texts of all claims of its answer, if they are read together. The evidence does not depend on them.
    """

    question: Question
    claim: str
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """A part of a document: ``document.text[start : start + len(text)] == text``. title: title of the document."""

    document_id: str
    text: str
    start: int
    title: str = ""


class EvidenceSource(Protocol):
    """Interface of a source of evidence for claims.

    The result depends only on question and claim, so it is the same for all arms.
    """

    @property
    def name(self) -> str:
        """Name with collection and settings, at most 64 characters. Sources with equal names return equal evidence."""

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the evidence for each request, best first; empty if the trusted collection has none.

        Raises the errors of its search.
        """


class SearchedEvidence:
    """An EvidenceSource with the k best chunks of a trusted collection for question and claim together."""

    def __init__(self, searcher: Searcher, collection_hash: str, k: int = DEFAULT_K, settings: str = "") -> None:
        """Create the source.

        collection_hash: hash of the index generation.
        k: number of chunks per request.
        settings: non-default settings of the searcher. They are part of the name because they change the result.

        Raises EvaluationError for k < 1.
        """
        if k < 1:
            raise EvaluationError(f"k is {k} for the evidence of a claim: k must be at least 1")
        self._searcher, self._k = searcher, k
        self._hash = collection_hash[:12]
        if settings:
            self._hash += "/" + hashlib.sha256(settings.encode()).hexdigest()[:8]

    @property
    def name(self) -> str:
        """``k=K in HASH``, or ``k=K in HASH/SETTINGS``."""
        return f"k={self._k} in {self._hash}"

    @property
    def k(self) -> int:
        """Number of retrieved chunks per request."""
        return self._k

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Search for all requests in one call (see ``EvidenceSource.evidence_for``)."""
        if not requests:
            return ()
        found = self._searcher.retrieve_many([query_of(r) for r in requests], self._k)
        return tuple(_texts(tuple(r.chunk for r in chunks)) for chunks in found)


class GoldEvidence:
    """An EvidenceSource with the gold passages of a question.

    It has no evidence if the question names no gold passage or if its documents are missing. Evidence spans select the
    chunks that they overlap. Relevant documents contribute their k best chunks for question and claim.
    """

    def __init__(self, source: PassageSource, searcher: Searcher, k: int = DEFAULT_K) -> None:
        """Create the source. searcher: ranks the chunks of relevant documents."""
        self._source, self._searcher, self._k = source, searcher, k

    @property
    def name(self) -> str:
        """``gold k=K``."""
        return f"gold k={self._k}"

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the gold passages of each request, with one search for those that need chunks ranked."""
        ranked = {r: () for r in requests if r.question.evidence or not r.question.relevant_document_ids}
        unranked = [r for r in dict.fromkeys(requests) if r not in ranked]
        found = self._searcher.retrieve_many([query_of(r) for r in unranked], _DEPTH) if unranked else ()
        by_request = ranked | dict(zip(unranked, found, strict=True))
        return tuple(
            # All evidence spans are used, because people chose them and they are few.
            _texts(gold_chunks(r.question, self._source, by_request[r])[: None if r.question.evidence else self._k])
            for r in requests
        )


class GoldOrSearchedEvidence:
    """An EvidenceSource with gold passages where the trusted collection has them, and search results elsewhere."""

    def __init__(self, gold: GoldEvidence, searched: SearchedEvidence) -> None:
        self._gold, self._searched = gold, searched

    @property
    def name(self) -> str:
        """``gold else k=K in HASH``."""
        return f"gold else {self._searched.name}"

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the evidence from both sources, each called once."""
        gold = self._gold.evidence_for(requests)
        rest = iter(self._searched.evidence_for([r for r, found in zip(requests, gold, strict=True) if not found]))
        return tuple(found or next(rest) for found in gold)


def query_of(request: ClaimRequest) -> str:
    """Return question and claim as one query, each truncated to 1,000 characters."""
    return f"{request.question.text[:_QUERY_CHARACTERS]} {request.claim[:_QUERY_CHARACTERS]}"


def _texts(chunks: Sequence[Chunk]) -> tuple[EvidenceText, ...]:
    return tuple(EvidenceText(c.document_id, c.text, c.start, c.title) for c in chunks)
