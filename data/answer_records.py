"""AnswerRecord: a system's answer to a question, with its contexts and human labels.

Fields are identified by NAMES (the names of Ragas, Inspect, DeepEval, RAGTruth and common variants), or given
explicitly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from data.answer_labels import flag_of, label_of, marked_spans
from data.answer_names import FIRST_ANSWERS, NAMES
from data.fields import FieldError, kind_of
from data.json_text import clean_text
from data.nested_texts import is_missing, listed_texts
from data.plain_values import plain_value
from data.written_lists import ShortenedListError, written_list

DEFAULT_ARM = "answers"
_INSIDE = ("text", "content", "page_content", "contents", "passage", "chunk", "answer", "body", "snippet")
_PASSAGE_WORDS = 25
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_MEANT = re.compile(
    r"answer|response|truth|gold|reference|context|passage|evidence|hallucinat|faithful|grounded|impossible|knowledge|"
    r"label|retriev|expected"
)
_LABELS = ("hallucinated", "supported", "label")


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Explicit field names; None uses the defaults. labels: whether labels are read at all."""

    question: str | None = None
    answer: str | None = None
    contexts: str | None = None
    references: str | None = None
    arm: str | None = None
    id: str | None = None
    sample: str | None = None
    group: str | None = None
    answerable: str | None = None
    hallucinated: str | None = None
    supported: str | None = None
    labels: bool = True

    def named(self) -> tuple[str, ...]:
        """The parts named by the user."""
        return tuple(f.name for f in fields(self) if f.name != "labels" and getattr(self, f.name) is not None)


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One answer. id: from the file, or its location. sample: distinguishes answers of one id and arm.

    question: empty if there is none (summaries). contexts: what the system was shown; references: accepted answers;
    both may be empty. answerable: whether the documents answer the question, if known. arm: the system that gave it.
    group: the unit of independence, "" if not given. hallucinated: the human label, None without one; spans: the
    characters of the answer that people marked. where: ``file:line``. kind: for grouping. trace_id, span_id: of the
    span that gave the answer, "" if it has none.
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
    """Build the record of an object's fields.

    cells: values come from a table, whose cells may hold lists as JSON or Python.

    Raises FieldError, naming the field: no answer, several candidates for the answer, a label that is neither true nor
    false, nested lists, a conversation where one question is required.
    """
    names = names or FieldNames()
    found = _Fields(row, names)
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
    found = _Fields(row, names or FieldNames())
    known = {part: found.name(part) for part in NAMES if found.has(part)}
    if record is not None and record.contexts and not record.references and "contexts" not in known:
        known["contexts"] = known.pop("references")
    return known


def unused_names(row: Mapping[str, object], names: FieldNames | None = None) -> tuple[str, ...]:
    """Return unused fields whose names suggest answers, contexts, labels or the like."""
    read = {name.partition(".")[0] for name in known_names(row, names).values()}
    read |= {_plain(name).partition(".")[0] for part in NAMES.values() for name in part}
    return tuple(
        key
        for key, value in row.items()
        if value not in (None, "") and _plain(key) not in read and key not in read and _MEANT.search(_plain(key))
    )


class _Fields:
    """An object's fields by part."""

    def __init__(self, row: Mapping[str, object], names: FieldNames) -> None:
        self._row, self._names = row, names
        self._by_plain = {_plain(key): key for key in reversed([k for k in row if isinstance(k, str)])}

    def name(self, part: str) -> str:
        """The name under which a part is found, else the first possible name."""
        given = getattr(self._names, part, None)
        if given is not None:
            return str(given)
        return next((self._shown(name) for name in NAMES[part] if self._value(name) is not None), NAMES[part][0])

    def reference_is_evidence(self, references: tuple[str, ...], answer: str) -> bool:
        """Whether "reference" holds the evidence of the answer, as in RefChecker, and not an accepted answer.

        It does if extracted claims are present, or next to a "response" if it is a passage (at least two sentences or
        25 words, longer than the answer). In Ragas records, which have "user_input", it is the accepted answer.
        """
        if self._names.references is not None or self.name("references") != "reference":
            return False
        if "claims" in self._by_plain:
            return True
        if self.name("answer") != "response" or "user_input" in self._by_plain:
            return False
        text = " ".join(references)
        passage = len(text.split()) >= _PASSAGE_WORDS or len(_SENTENCE_END.findall(text.strip())) >= 2
        return passage and len(text) > len(answer)

    def has(self, part: str) -> bool:
        """Whether the part is present."""
        return self.get(part) is not None

    def get(self, part: str) -> object:
        """The part's value; None if it is missing or null."""
        given = getattr(self._names, part, None)
        if given is not None:
            return self._row.get(given) if given in self._row else self._value(given)
        return next((v for name in NAMES[part] if (v := self._value(name)) is not None), None)

    def one(self, part: str) -> object:
        """As ``get``, but required, under one name only; an answer of null is an empty one."""
        given = getattr(self._names, part, None)
        if given is not None:
            if given not in self._row and not self._has(given):
                raise FieldError(f'it has no "{given}": it has {_listed(self._row)}')
            return self.get(part) or ""
        present = [name for name in NAMES[part][:FIRST_ANSWERS] if self._has(name)]
        if not present:
            later = [name for name in NAMES[part][FIRST_ANSWERS:] if self._has(name)]
            present = [name for name in later if not isinstance(self._value(name), Mapping | list)]
        if not present:
            raise FieldError(
                f"no field is known to be the {part} (looked for {', '.join(NAMES[part])}; there are "
                f"{_listed(self._row)}): name it as the field {part}"
            )
        values = [v for name in present if (v := self._value(name)) is not None]
        if any(v != values[0] for v in values):
            both = " and ".join(f'"{self._shown(name)}"' for name in present)
            raise FieldError(f"{both} could each be the {part}: name one as the field {part}")
        return values[0] if values else ""

    def label(self, parts: tuple[str, ...]) -> tuple[str, str, object]:
        """(part, name, value) of the label; ("", "", None) without one."""
        named = [p for p in parts if getattr(self._names, p, None) is not None]
        for part in named or parts:
            value = self.get(part)
            if value is not None and value != "":
                return part, self.name(part), value
        return "", "", None

    def _has(self, name: str) -> bool:
        return _plain(name) in self._by_plain or self._value(name) is not None

    def _shown(self, name: str) -> str:
        return self._by_plain.get(_plain(name), name)

    def _value(self, name: str) -> object:
        if _plain(name) in self._by_plain:
            return self._row[self._by_plain[_plain(name)]]
        at: object = self._row
        for step in name.split("."):
            at = at.get(step) if isinstance(at, Mapping) else None
        return at if "." in name else None


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _listed(row: Mapping[str, object]) -> str:
    names = [str(key)[:40] for key in row]
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "no field at all"


def _text(value: object, name: str, *, empty: bool = False) -> str:
    if value is None and empty:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise FieldError(f'"{name}" is {kind_of(value)}, it must be text')
    return clean_text(value)


def _word(found: _Fields, part: str) -> str:
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
