"""Find questions that are documents of the collection, and remove the document with the same ID from their results.

BEIR's ``EvaluateRetrieval.evaluate`` does this by default (``ignore_identical_ids``; Thakur et al., NeurIPS 2021). In
ArguAna every query is an argument of the corpus, which would otherwise be found first and has no judgement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.retrieval.judgements import Judgements
from evaluation.retrieval.rankings import RankedDocument
from retrieval.chunking.chunks import Chunk

_WORD = re.compile(r"\w+")
_SHARED = 0.5
"""Minimum share of a question's words that occur in its own document."""


@dataclass(frozen=True, slots=True)
class OwnDocuments:
    """Questions that are documents of the collection.

    ids: IDs of the questions whose own document is removed. notes: warnings, one line each.
    """

    ids: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def leave_out(self, question_id: str, ranking: Iterable[RankedDocument]) -> tuple[RankedDocument, ...]:
        """Return the ranking without the question's own document."""
        if question_id not in self.ids:
            return tuple(ranking)
        return tuple(item for item in ranking if item.document_id != question_id)


def own_documents(
    questions: Sequence[Question], judgements: Judgements | None, chunks: Sequence[Chunk]
) -> OwnDocuments:
    """Find the questions that are documents of the collection of ``chunks``.

    An equal ID is enough if it is a name. Numbers are often equal by chance, so most of these questions must share
    words with the document. If the document with a question's ID is judged relevant to it, the IDs have different
    meanings, and nothing is removed.
    """
    by_id = {question.id: question for question in questions}
    texts: dict[str, list[str]] = {}
    for chunk in chunks:
        if chunk.document_id in by_id:
            texts.setdefault(chunk.document_id, [chunk.title]).append(chunk.text)
    if not texts:
        return OwnDocuments()
    first = min(texts)
    grades: Mapping[str, Mapping[str, int]] = judgements.grades if judgements is not None else {}
    if any(grades.get(name, {}).get(name, 0) > 0 for name in texts):
        note = (
            f"{len(texts)} questions have the id of a document (first {first!r}), which is judged relevant to some of "
            "them. No document is left out"
        )
        return OwnDocuments(notes=(note,))
    similar = sum(_shares_words(by_id[name].text, " ".join(excerpts)) for name, excerpts in texts.items())
    if all(name.isdecimal() for name in texts) and 2 * similar <= len(texts):
        return OwnDocuments()
    note = (
        f"{len(texts)} of {len(questions)} questions are documents of the collection (the same id, first {first!r}): "
        "that document is left out of their results, as BEIR does"
    )
    return OwnDocuments(frozenset(texts), (note,))


def _shares_words(question: str, document: str) -> bool:
    question_words = set(_WORD.findall(question.casefold()))
    return len(question_words & set(_WORD.findall(document.casefold()))) >= _SHARED * len(question_words) > 0
