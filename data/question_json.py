"""A Question from the fields of a JSON object, and back."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from data.fields import FieldError, as_text, either, identifier, kind_of
from data.questions import EvidenceSpan, Question

_KNOWN = (
    "id",
    "_id",
    "text",
    "question",
    "references",
    "answers",
    "relevant_document_ids",
    "answerable",
    "kind",
    "evidence",
)


def question_from_fields(fields: Mapping[str, object]) -> Question:
    """The Question of ``{"id", "text" | "question", "references" | "answers", "relevant_document_ids", "answerable",
    "kind", "evidence": [{"document_id", "start", "end"}]}``.

    Everything but id and text may be missing; answerable is then true. Other fields are not looked at, except that one
    which looks like a misspelling is an error: its content would be lost silently. Raises FieldError.
    """
    question_id = identifier(fields, "id", "_id")
    for name in fields:
        near = difflib.get_close_matches(name, _KNOWN, n=1, cutoff=0.85)
        if name not in _KNOWN and near:
            raise FieldError(f'"{name}" is no field of a question: is "{near[0]}" meant?')
    text_name = either(fields, "text", "question")
    answerable = fields.get("answerable", True)
    if not isinstance(answerable, bool):
        raise FieldError(f'"answerable" is {kind_of(answerable)}, it must be true or false')
    kind = fields.get("kind")
    has_references = any(fields.get(name) is not None for name in ("references", "answers"))
    references = either(fields, "references", "answers") if has_references else "references"
    try:
        return Question(
            id=question_id,
            text=as_text(fields[text_name], text_name),
            references=_texts(fields, references),
            relevant_document_ids=_texts(fields, "relevant_document_ids"),
            answerable=answerable,
            kind="" if kind is None else as_text(kind, "kind"),
            evidence=_evidence(fields.get("evidence")),
        )
    except FieldError:
        raise
    except ValueError as error:  # the types' own checks
        raise FieldError(str(error)) from None


def question_to_fields(question: Question) -> dict[str, object]:
    """The JSON object of a question, every field written out; question_from_fields reads it back."""
    return {
        "id": question.id,
        "text": question.text,
        "references": list(question.references),
        "relevant_document_ids": list(question.relevant_document_ids),
        "answerable": question.answerable,
        "kind": question.kind,
        "evidence": [
            {"document_id": span.document_id, "start": span.start, "end": span.end} for span in question.evidence
        ],
    }


def _items(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise FieldError(f'"{name}" is {kind_of(value)}, it must be a list')
    return value


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    texts = tuple(as_text(item, f"{name}[{i}]") for i, item in enumerate(_items(fields.get(name), name)))
    for i, text in enumerate(texts):
        if not text.strip():
            raise FieldError(f'"{name}[{i}]" is empty')
    return texts


def _evidence(value: object) -> tuple[EvidenceSpan, ...]:
    spans: list[EvidenceSpan] = []
    for i, item in enumerate(_items(value, "evidence")):
        if not isinstance(item, dict):
            raise FieldError(f'"evidence[{i}]" is {kind_of(item)}, it must be an object')
        offsets: list[int] = []
        for name in ("start", "end"):
            offset = item.get(name)
            if not isinstance(offset, int) or isinstance(offset, bool):
                raise FieldError(f'"evidence[{i}].{name}" is {kind_of(offset)}, it must be a whole number')
            offsets.append(offset)
        document_id = as_text(item.get("document_id"), f"evidence[{i}].document_id")
        spans.append(EvidenceSpan(document_id, start=offsets[0], end=offsets[1]))
    return tuple(spans)
