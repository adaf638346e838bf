"""Add distractors (highly ranked chunks without the answer), or show the gold passage among distractors."""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.evidence.passages import PassageSource, Searcher, gold_chunks
from evaluation.modifiers.modifier import Modifier
from evaluation.runs.arms import MissingGoldError
from evaluation.verifiers.matching import compare
from retrieval.chunking.chunks import Chunk, RetrievedChunk

_DEPTH = 50
_SAME = 0.8


class DistractorPool:
    """Source of distractors: the best chunks of a search without gold passages and without a reference answer."""

    def __init__(self, searcher: Searcher, source: PassageSource) -> None:
        self._searcher, self._source = searcher, source
        self._found: dict[str, tuple[RetrievedChunk, ...]] = {}

    def prepare(self, questions: Sequence[Question]) -> None:
        """Search for all questions in one call."""
        texts = tuple(dict.fromkeys(q.text for q in questions))
        if texts:
            self._found = dict(zip(texts, self._searcher.retrieve_many(texts, _DEPTH), strict=True))

    def gold(self, question: Question) -> tuple[Chunk, ...]:
        """Return the question's gold passages, best first. Raises MissingGoldError if there are none."""
        if not question.evidence and not question.relevant_document_ids:
            raise MissingGoldError(f"question {question.id!r} names no evidence and no relevant document")
        gold = gold_chunks(question, self._source, () if question.evidence else self._search(question))
        if not gold:
            raise MissingGoldError(
                f"the collection contains none of the gold passages of question {question.id!r}: index the documents "
                "for which the questions were written"
            )
        return gold

    def best(self, question: Question, count: int, excluded: Sequence[Chunk]) -> tuple[RetrievedChunk, ...]:
        """Return the ``count`` best distractors that are not in ``excluded``.

        Raises MissingGoldError if there are too few, or if the question has no gold passage, because any chunk may then
        answer it.
        """
        banned = {c.id for c in excluded} | {c.id for c in self.gold(question)}
        found: list[RetrievedChunk] = []
        for retrieved in self._search(question):
            if len(found) == count:
                break
            if retrieved.chunk.id not in banned and not _answers(question, retrieved.chunk):
                found.append(retrieved)
        if len(found) < count:
            raise MissingGoldError(
                f"the search finds only {len(found)} chunks for question {question.id!r} that are not gold passages: "
                f"{count} distractors were requested"
            )
        return tuple(found)

    def _search(self, question: Question) -> tuple[RetrievedChunk, ...]:
        found = self._found.get(question.text)
        return self._searcher.retrieve_many((question.text,), _DEPTH)[0] if found is None else found


class Distractors(Modifier):
    """A modifier that appends ``count`` distractors to the shown chunks."""

    def __init__(self, pool: DistractorPool, count: int) -> None:
        """Create the modifier. Raises EvaluationError for count < 1."""
        if count < 1:
            raise EvaluationError(f"distractors:{count}: at least 1 distractor is needed")
        self._pool, self._count = pool, count
        self.name = f"distractors:{count}"
        self.settings = f"distractors={count}"

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare the pool (see ``Modifier.prepare``)."""
        self._pool.prepare(questions)

    def chunks(self, question: Question, chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
        """Return the chunks followed by distractors. Raises the errors of ``DistractorPool.best``."""
        return _ranked((*chunks, *self._pool.best(question, self._count, [r.chunk for r in chunks])))


class GoldAtPosition(Modifier):
    """A modifier that shows k chunks: the gold passage at one position (from 1) and distractors at the others."""

    def __init__(self, pool: DistractorPool, position: int, k: int) -> None:
        """Create the modifier. Raises EvaluationError for a position outside 1..k."""
        if not 1 <= position <= k:
            raise EvaluationError(
                f"position:{position}: the position must be in 1..{k}, because {k} chunks are shown", parameter="k"
            )
        self._pool, self._position, self._k = pool, position, k
        self.name = f"position:{position}"
        self.settings = f"gold at {position} of {k}"

    def prepare(self, questions: Sequence[Question]) -> None:
        """Prepare the pool (see ``Modifier.prepare``)."""
        self._pool.prepare(questions)

    def chunks(self, question: Question, chunks: tuple[RetrievedChunk, ...]) -> tuple[RetrievedChunk, ...]:
        """Return the gold passage among distractors. Raises the errors of DistractorPool."""
        gold = self._pool.gold(question)[0]
        others = list(self._pool.best(question, self._k - 1, (gold,))) if self._k > 1 else []
        others.insert(self._position - 1, RetrievedChunk(gold, 1.0, self._position))
        return _ranked(others)


def _answers(question: Question, chunk: Chunk) -> bool:
    """Return whether a chunk contains a reference answer, although it is not marked as gold."""
    return any(compare(chunk.text, r, question.text, _SAME).label == "supported" for r in question.references)


def _ranked(chunks: Sequence[RetrievedChunk]) -> tuple[RetrievedChunk, ...]:
    """Return the same chunks with ranks in display order."""
    return tuple(RetrievedChunk(r.chunk, r.score, rank) for rank, r in enumerate(chunks, start=1))
