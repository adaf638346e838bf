"""Convert Questions to and from JSON objects."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from data.answer_labels import flag_of
from data.answer_names import MORE_REFERENCES, UNANSWERABLE
from data.fields import FieldError, as_text, either, identifier, kind_of
from data.nested_texts import listed_texts
from data.plain_values import plain_value
from data.questions import EvidenceSpan, Question

IDS = ("id", "_id", "question_id", "query_id", "qid")
TEXTS = ("text", "question", "query", "user_input", "input")
REFERENCES = (
    *("references", "answers", "answer", "ground_truth", "ground_truths", "reference", "reference_answer"),
    *("reference_answers", "gold_answer", "expected_answer", "expected_output", "target", "output", *MORE_REFERENCES),
)
ANSWERABLE = ("answerable", "is_answerable")
_KNOWN = (
    *("id", "_id", "text", "question", "references", "answers", "relevant_document_ids", "answerable", "kind"),
    "evidence",
    "reviewed_by",
)
_WRITTEN_BY_COMMANDS = ("provenance", "review")  # of "questions make", "import" and "review"; reports read them
_KNOWN_NAMES = frozenset((*_KNOWN, *IDS, *TEXTS, *REFERENCES, *ANSWERABLE, *UNANSWERABLE, *_WRITTEN_BY_COMMANDS))
_IGNORED = re.compile(
    r"(?:plausible|wrong|incorrect|false|hallucinated|distractor)_?\w*|\w+_(?:start|type|span|spans|length|url|format|"
    r"language|source|category|index|offset|count)s?|metadata|answer_?starts?|(?:reference_)?contexts?|supporting_facts"
)
"""Field names that are ignored although they resemble known ones."""
_SUGGESTS_ANSWERS = re.compile(
    r"answer|truth|gold|refer|expected|target|correct|solution|impossible|relevant|qrel|positive"
)


def question_from_fields(fields: Mapping[str, object]) -> Question:
    """Return the Question in a JSON object.

    Fields: ``{"id", "text" | "question", "references" | "answers", "relevant_document_ids", "answerable", "kind",
    "evidence": [{"document_id", "start", "end"}]}``. Only id and text are required; answerable defaults to true.
    Accepted answers are also read under the names of public data sets (golden_answers, ground_truth, expected_output,
    target, ...), as a list, one text, or an object in the layout of SQuAD or TriviaQA. is_impossible is the inverse of
    answerable. Other fields are ignored (see ignored_fields).

    Raises FieldError if a field is missing or invalid, and for an unknown name that looks like a misspelling or
    suggests answers.
    """
    try:
        row = {str(name): plain_value(value) for name, value in fields.items()}
    except ValueError as error:
        raise FieldError(str(error)) from None
    for name in IDS:  # a data frame stores an integer column with a gap as floats
        if isinstance(number := row.get(name), float) and number.is_integer():
            row[name] = int(number)
    question_id = identifier(row, *(_present(row, IDS) or IDS[:2]))
    _check_names(row)
    text_name = either(row, *(_present(row, TEXTS) or TEXTS[:2]))
    kind = row.get("kind")
    try:
        return Question(
            id=question_id,
            text=as_text(row[text_name], text_name),
            references=_references(row),
            relevant_document_ids=_texts(row, "relevant_document_ids"),
            answerable=_answerable(row),
            kind="" if kind is None else as_text(kind, "kind"),
            evidence=_evidence(row.get("evidence")),
            reviewed_by=_texts(row, "reviewed_by"),
        )
    except FieldError:
        raise
    except ValueError as error:  # validation by the types
        raise FieldError(str(error)) from None


def ignored_fields(fields: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of non-empty fields that question_from_fields does not read."""
    return tuple(str(name) for name, value in fields.items() if name not in _KNOWN_NAMES and _is_filled(value))


def _is_filled(value: object) -> bool:
    if isinstance(value, float):
        return value == value  # NaN is a missing value
    return value is not None and not (isinstance(value, str | list | tuple | dict) and not value)


def _present(row: Mapping[str, object], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if row.get(name) is not None)


def _check_names(row: Mapping[str, object]) -> None:
    """Raise FieldError for an unknown field that resembles a known one."""
    for name, value in row.items():
        if name in _KNOWN_NAMES:
            continue
        near = difflib.get_close_matches(name, _KNOWN, n=1, cutoff=0.85)
        if near:
            raise FieldError(f'"{name}" is not a field of a question: is "{near[0]}" meant?')
        plain = name.casefold().replace("-", "_").replace(" ", "_")
        if value is None or _IGNORED.fullmatch(plain) or not _SUGGESTS_ANSWERS.search(plain):
            continue
        raise FieldError(
            f'"{name}" is not a known field: rename it to "references" if it has accepted answers, to '
            '"answerable" or "relevant_document_ids" if it has those, or remove it'
        )


def _references(row: Mapping[str, object]) -> tuple[str, ...]:
    """Return the accepted answers. Raises FieldError if two fields have different ones."""
    found: dict[str, tuple[str, ...]] = {}
    for name in _present(row, REFERENCES):
        texts = listed_texts(row[name])
        if isinstance(texts, list):
            texts = [text for text in texts if text is not None]
        if name not in ("references", "answers") and isinstance(texts, str | int | float):
            texts = [] if texts == "" else [texts]
        if isinstance(texts, list) and name not in ("references", "answers"):
            texts = [str(t) if isinstance(t, int | float) and not isinstance(t, bool) else t for t in texts]
        found[name] = tuple(dict.fromkeys(_texts({name: texts}, name)))
    filled = {name: texts for name, texts in found.items() if texts}
    if len(set(filled.values())) > 1:
        names = " and ".join(f'"{name}"' for name in filled)
        raise FieldError(f"{names} differ: keep the one with the accepted answers")
    return next(iter(filled.values()), ())


def _answerable(row: Mapping[str, object]) -> bool:
    """Return whether the documents answer the question. Raises FieldError if two fields contradict each other."""
    given: dict[str, bool] = {}
    value = row.get("answerable")
    if value is not None:
        if not isinstance(value, bool):
            raise FieldError(f'"answerable" is {kind_of(value)}, it must be true or false')
        given["answerable"] = value
    for name in (*ANSWERABLE[1:], *UNANSWERABLE):
        if (flag := flag_of(name, row.get(name))) is not None:
            given[name] = flag if name in ANSWERABLE else not flag
    if len(set(given.values())) > 1:
        raise FieldError(" and ".join(f'"{name}"' for name in given) + " contradict each other: keep one of them")
    return next(iter(given.values()), True)


def question_to_fields(question: Question) -> dict[str, object]:
    """Return a question as a JSON object that question_from_fields reads."""
    fields: dict[str, object] = {
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
    return fields | ({"reviewed_by": list(question.reviewed_by)} if question.reviewed_by else {})


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
                raise FieldError(f'"evidence[{i}].{name}" is {kind_of(offset)}, it must be an integer')
            offsets.append(offset)
        document_id = as_text(item.get("document_id"), f"evidence[{i}].document_id")
        spans.append(EvidenceSpan(document_id, start=offsets[0], end=offsets[1]))
    return tuple(spans)
