"""The items that annotators see: question, answer and evidence of a response, without its arm and verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from data.questions import Question
from data.schema import collections, documents, generation_documents
from data.store import Store
from evaluation.correction.labelled_run import ResponseKey
from evaluation.outcomes import Evidence
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from generation.completion import Citation, Completion

MOST_PASSAGES = 8
_AROUND = 240
"""Number of characters of a document that are shown before and after the evidence."""
_BATCH = 400


@dataclass(frozen=True, slots=True)
class Passage:
    """Evidence with its surroundings. before + text + after is a contiguous part of the document ``title``."""

    title: str
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class LabelItem:
    """A response to label.

    id: ID that does not reveal the arm, equal for all annotators. key: question, arm and sample. references: accepted
    answers. passages: evidence. remark: further information for the annotator, "" if there is none.
    """

    id: str
    key: ResponseKey
    question: str
    answer: str
    references: tuple[str, ...]
    passages: tuple[Passage, ...]
    remark: str


def item_id(run_id: str, decoding: str, key: ResponseKey) -> str:
    """Return the ID of an item: 12 hexadecimal digits that do not reveal the arm."""
    return hashlib.sha256("\0".join((run_id, decoding, *map(str, key))).encode()).hexdigest()[:12]


def label_items(
    store: Store,
    info: RunInfo,
    decoding: str,
    keys: Iterable[ResponseKey],
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
) -> tuple[LabelItem, ...]:
    """Return the items of these responses, in order.

    Their passages are the evidence of the question, then the evidence that was retrieved for the claims of the answer.
    If the answer has none, the evidence for other answers to the question is shown. The passages depend only on the
    question and the answer, never on the prompt of the arm.
    """
    by_id = {q.id: q for q in questions}
    by_key = {(s.question_id, s.arm, s.sample): s for s in samples if s.decoding == decoding}
    chosen = [(key, by_id[key[0]], by_key[key]) for key in keys if key in by_key]
    fetched: dict[str, list[Evidence]] = {}
    for sample in by_key.values():
        fetched.setdefault(sample.question_id, []).extend(_evidence(sample))
    document_ids = {e.document_id for found in fetched.values() for e in found if e.document_id is not None}
    document_ids |= {span.document_id for _, question, _ in chosen for span in question.evidence}
    labels = dict(info.labels)
    texts = documents_of(store, labels.get("trusted") or labels.get("collection") or "", sorted(document_ids))
    return tuple(
        LabelItem(
            item_id(info.id, decoding, key),
            key,
            question.text,
            _blind(sample.completion) if sample.completion else "",
            question.references,
            _passages(question, _evidence(sample) or fetched.get(question.id, []), texts),
            _remark(question, sample),
        )
        for key, question, sample in chosen
    )


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document of a collection in its current state."""

    title: str
    text: str


def documents_of(store: Store, name: str, ids: Sequence[str]) -> dict[str, DocumentText]:
    """Return documents of a collection in their current state, by ID. Missing documents are left out.

    name: name of the collection in the store.
    """
    found: dict[str, DocumentText] = {}
    columns = (documents.c.document_id, documents.c.title, documents.c.text)
    with store.read() as connection:
        for start in range(0, len(ids), _BATCH):
            statement = (
                select(*columns)
                .join(generation_documents, generation_documents.c.document_row == documents.c.id)
                .join(collections, collections.c.current_generation_id == generation_documents.c.generation_id)
                .where(collections.c.name == name, documents.c.document_id.in_(ids[start : start + _BATCH]))
            )
            for document_id, title, text in connection.execute(statement):
                found[document_id] = DocumentText(title, text)
    return found


def _evidence(sample: SampleRecord) -> list[Evidence]:
    """Return the evidence that was retrieved for the claims of a response, without reference answers."""
    return [e for v in sample.evaluation.verdicts for e in v.evidence if e.document_id is not None]


def _passages(
    question: Question, fetched: Iterable[Evidence], texts: Mapping[str, DocumentText]
) -> tuple[Passage, ...]:
    own = [Evidence(span.document_id, span.start, span.end, "") for span in question.evidence]
    passages = dict.fromkeys([*own, *(e for e in fetched if e.text or e.document_id in texts)])
    found: dict[tuple[str, int, int], Passage] = {}
    for evidence in passages:
        passage = passage_of(evidence, texts.get(evidence.document_id or ""))
        if passage is not None:
            found.setdefault((evidence.document_id or "", evidence.start, evidence.end), passage)
    return tuple(found.values())[:MOST_PASSAGES]


def passage_of(evidence: Evidence, source: DocumentText | None) -> Passage | None:
    """Return evidence with its surroundings, or without them if its document was deleted or changed.

    Returns None if there is no text to show.
    """
    inside = source is not None and (not evidence.text or source.text[evidence.start : evidence.end] == evidence.text)
    if source is None or not inside:
        return Passage(evidence.document_id or "", "", evidence.text, "") if evidence.text else None
    start, end = max(0, evidence.start - _AROUND), min(len(source.text), evidence.end + _AROUND)
    before, after = source.text[start : evidence.start], source.text[evidence.end : end]
    return Passage(
        source.title or evidence.document_id or "",
        ("…" if start else "") + before,
        source.text[evidence.start : evidence.end],
        after + ("…" if end < len(source.text) else ""),
    )


def _blind(completion: Completion) -> str:
    """Return the answer without citation marks, which would reveal that the arm shows passages."""
    text, pieces, position = completion.text, [], 0
    for citation in sorted(completion.citations, key=_start):
        if citation.start < position:
            continue
        pieces.append(text[position : citation.start].rstrip(" "))
        position = citation.end
    return ("".join(pieces) + text[position:]).strip()


def _start(citation: Citation) -> int:
    return citation.start


def _remark(question: Question, sample: SampleRecord) -> str:
    remarks = []
    if not question.answerable:
        remarks.append("The question set says that the documents do not answer this question.")
    if sample.completion is None:
        remarks.append("No answer was generated: choose the label for answers that you cannot judge.")
    return " ".join(remarks)
