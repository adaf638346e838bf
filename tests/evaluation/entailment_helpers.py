"""Helpers for tests of the entailment verifier: three documents, a search by shared words, and simple scorers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from data.documents import Document
from data.questions import Question
from evaluation.outcomes import Verdict
from evaluation.verifiers.evidence import (
    ClaimRequest,
    EvidenceText,
    GoldEvidence,
    GoldOrSearchedEvidence,
    SearchedEvidence,
)
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import Pair
from retrieval.chunking.chunker import ChunkingParams, chunk_document
from retrieval.chunking.chunks import Chunk, RetrievedChunk

DOCUMENTS = {
    d.id: d
    for d in (
        Document("kiln", "Kiln", "The kiln is fired at dawn. It cools for two days. Nobody opens it early."),
        Document("mill", "Mill", "The mill grinds rye. Its wheel was cut from larch. The miller is called Odo."),
        Document("boat", "Boat", "The boat was built by Odo. It carries nine sheep."),
    )
}
QUESTION = Question("q", "What happens at the kiln?")


def words(texts: Sequence[str]) -> list[int]:
    return [len(t.split()) for t in texts]


class Neighbours:
    """A scorer that gives 0.3 plus 0.1 for each other claim read together, or 0.9 to a claim without "It".

    A token is a word."""

    name = "neighbours"
    answer_tokens = 12

    def __init__(self) -> None:
        self.pairs: list[Pair] = []

    def room(self, claim: str, question: str = "") -> int:
        return 60 - len(claim.split())

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.pairs += pairs
        return tuple(0.9 if "It" not in p.claim.split() else 0.2 + 0.1 * max(1, len(p.answer)) for p in pairs)


class Shelf:
    """A search over all documents in chunks of two sentences, by the number of words shared with the query."""

    def __init__(self, documents: Sequence[Document] = tuple(DOCUMENTS.values())) -> None:
        self.chunks = [c for d in documents for c in chunk_document(d, words, ChunkingParams(12))]
        self.queries: list[str] = []

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(c for c in self.chunks if c.document_id == document_id)

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        self.queries.extend(queries)
        return tuple(self._retrieve(q, k) for q in queries)

    def _retrieve(self, query: str, k: int) -> tuple[RetrievedChunk, ...]:
        words = set(query.casefold().replace(".", "").replace("?", "").split())

        def shared(c: Chunk) -> int:
            return len(words & set(c.text.casefold().replace(".", "").split()))

        ranked = sorted(self.chunks, key=lambda c: -shared(c))[:k]
        return tuple(RetrievedChunk(c, float(shared(c)), r) for r, c in enumerate(ranked, 1) if shared(c))


class Given:
    """A search that returns the same evidence for every claim."""

    name = "given"

    def __init__(self, *texts: str) -> None:
        self.texts = tuple(EvidenceText(f"d{i}", t, 0) for i, t in enumerate(texts))

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        return tuple(self.texts for _ in requests)


def sources(shelf: Shelf, k: int = 3) -> GoldOrSearchedEvidence:
    return GoldOrSearchedEvidence(GoldEvidence(shelf, shelf, k), SearchedEvidence(shelf, "f" * 64, k))


def judge(verifier: Any, answer: str, question: Question = QUESTION) -> tuple[Verdict, ...]:
    claims = verifier.extract(question, answer).claims
    (verdicts,) = verifier.verify([VerificationItem(question, claims, answer)])
    return tuple(verdicts)
