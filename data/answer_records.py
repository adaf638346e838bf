"""AnswerRecord: a system's answer to a question, with its contexts and human labels.

Fields are identified by NAMES (the names of Ragas, Inspect, DeepEval, RAGTruth and common variants), or given
explicitly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from data.answer_labels import flag_of, label_of, marked_spans
from data.answer_names import NAMES
from data.fields import FieldError, kind_of
from data.json_text import clean_text
from data.nested_texts import is_missing, listed_texts
from data.plain_values import plain_value
from data.record_fields import FieldNames, RecordFields, normalised
from data.written_lists import ShortenedListError, written_list

DEFAULT_ARM = "answers"
_INSIDE = ("text", "content", "page_content", "contents", "passage", "chunk", "answer", "body", "snippet")
_MEANT = re.compile(
    r"answer|response|truth|gold|reference|context|passage|evidence|hallucinat|faithful|grounded|impossible|knowledge|"
    r"label|retriev|expected"
)
_LABELS = ("hallucinated", "supported", "label")


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An answer of a system to a question.

    id: ID in the file, or else the location. sample: distinguishes answers with the same id and arm.
    question: text of the question; "" if there is none, as for summaries.
    contexts: passages that the system was given. references: accepted answers. Both may be empty.
    answerable: whether the documents answer the question; True if unknown.
    arm: name of the system that answered. group: unit of independence for the intervals; "" if not given.
    hallucinated: label by a person; None without one. spans: marked (start, end) of the answer, in characters.
    where: location as ``file:line``. kind: category for breakdowns.
    trace_id, span_id: IDs of the OpenTelemetry span of the answer; "" if there is none.
    """

    id: str
    question: str
    answer: str
    contexts: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    arm: str = DEFAULT_ARM
    sample: str = ""
    group: str = ""
    hallucinated: bool | None = None
    spans: tuple[tuple[int, int], ...] = ()
    where: str = ""
    kind: str = ""
    answerable: bool = True
    trace_id: str = ""
    span_id: str = ""


def record_from_fields(
    row: Mapping[str, object], default_id: str, where: str, names: FieldNames | None = None, cells: bool = False
) -> AnswerRecord:
    """Build a record from the fields of an object.

    default_id: ID to use if the object has none. where: location of the object. names: field names; None for the
    defaults. cells: whether the values come from a table, whose cells may contain lists as JSON or Python.

    Raises FieldError, with the field, if there is no answer or more than one, if a label is neither true nor false, if
    lists are nested, or if the question is a conversation.
    """
    names = names or FieldNames()
    found = RecordFields(row, names)
    answer = _text(found.one("answer"), found.name("answer"), empty=True)
    question = found.get("question")
    if isinstance(question, list):
        raise FieldError(f'"{found.name("question")}" is a list of turns: give the question that was answered as text')
    hallucinated = label_of(found.label(_LABELS)) if names.labels else None
    spans = marked_spans(found.get("spans"), len(answer)) if names.labels else None
    if hallucinated is None and spans is not None:
        hallucinated = bool(spans)
    contexts = _texts(found.get("contexts"), found.name("contexts"), cells)
    references = _texts(listed_texts(found.get("references")), found.name("references"), cells)
    if references and not contexts and found.reference_is_evidence(references, answer):
        contexts, references = references, ()
    answerable = flag_of(found.name("answerable"), found.get("answerable")) is not False
    if flag_of(found.name("unanswerable"), found.get("unanswerable")):
        answerable = False
    return AnswerRecord(
        id=_word(found, "id") or default_id,
        question=_text(question, found.name("question"), empty=True).strip(),
        answer=answer,
        contexts=contexts,
        references=references,
        arm=_word(found, "arm") or DEFAULT_ARM,
        sample=_word(found, "sample"),
        group=_word(found, "group"),
        hallucinated=hallucinated,
        spans=spans or (),
        where=where,
        kind=_word(found, "kind"),
        answerable=answerable,
        trace_id=_id_of(row, "trace_id"),
        span_id=_id_of(row, "span_id"),
    )


def _id_of(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def known_names(
    row: Mapping[str, object], names: FieldNames | None = None, record: AnswerRecord | None = None
) -> dict[str, str]:
    """Return the part that each recognised field is read as: {"answer": "response", ...}.

    record: the parsed record, which determines whether its reference is evidence.
    """
    found = RecordFields(row, names or FieldNames())
    known = {part: found.name(part) for part in NAMES if found.has(part)}
    if record is not None and record.contexts and not record.references and "contexts" not in known:
        known["contexts"] = known.pop("references")
    return known


def unused_names(row: Mapping[str, object], names: FieldNames | None = None) -> tuple[str, ...]:
    """Return unused fields whose names suggest answers, contexts, labels or the like."""
    read = {name.partition(".")[0] for name in known_names(row, names).values()}
    read |= {normalised(name).partition(".")[0] for part in NAMES.values() for name in part}
    return tuple(
        key
        for key, value in row.items()
        if value not in (None, "")
        and normalised(key) not in read
        and key not in read
        and _MEANT.search(normalised(key))
    )


def _text(value: object, name: str, *, empty: bool = False) -> str:
    if value is None and empty:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise FieldError(f'"{name}" is {kind_of(value)}, it must be text')
    return clean_text(value)


def _word(found: RecordFields, part: str) -> str:
    """A name or number used as a key; empty if missing. An object ({"name": ...}) is not one."""
    value = found.get(part)
    if isinstance(value, Mapping | list):
        return ""
    return _text(value, found.name(part), empty=True).strip()


def _texts(value: object, name: str, cells: bool) -> tuple[str, ...]:
    """A list of texts without blank ones.

    A single text becomes a list of one; a table's cell may contain a written list.
    """
    if isinstance(value, str) and cells and value.lstrip().startswith("["):
        try:
            value = plain_value(written_list(value))
        except ShortenedListError as error:
            raise FieldError(f'"{name}": {error}') from None
    if value is None or value == "":
        return ()
    items = value if isinstance(value, list | tuple) else [value]
    texts = []
    for index, item in enumerate(items):
        at = f"{name}[{index}]" if isinstance(value, list | tuple) else name
        if isinstance(item, list | tuple):
            if is_missing(item):
                continue
            raise FieldError(f'"{at}" is a list in a list: give a flat list of texts')
        if isinstance(item, Mapping):
            if is_missing(item):
                continue
            inner = next((item[key] for key in _INSIDE if isinstance(item.get(key), str)), None)
            if inner is None:
                raise FieldError(f'"{at}" is an object without {", ".join(_INSIDE[:3])}: give its text')
            item = inner
        if item is not None:
            texts.append(_text(item, at))
    return tuple(text for text in texts if text.strip())
