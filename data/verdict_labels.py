"""Read people's judgements of answers and claims from a file, one judgement per row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from data.answer_labels import HALLUCINATED_WORDS, SUPPORTED_WORDS, label_of
from data.answer_rows import answer_format, read_rows
from data.errors import DataError
from data.fields import FieldError
from data.refused import Refused, shown

LabelWord = Literal["supported", "contradicted", "unverifiable", "abstained"]
_CONTRADICTED = frozenset({"contradicted", "contradiction", "refuted", "incorrect"})
_UNVERIFIABLE = frozenset({"unverifiable", "neutral", "not_stated"})
_ABSTAINED = frozenset({"abstained", "abstention", "refused", "refusal", "declined"})
_QUESTION_IDS = ("question_id", "query_id", "qid")
_QUESTIONS = ("question", "user_input", "query")
_ANSWERS = ("answer", "response", "completion")
_LABELS = ("label", "human_label", "hallucinated", "supported")
_NOTES = ("note", "comment", "reason")
_EXAMPLE = '{"question": "...", "answer": "...", "label": "supported"}'


@dataclass(frozen=True, slots=True)
class VerdictLabel:
    """A person's judgement of an answer or a claim.

    question_id, question: question that the text answers; "" for any question. text: the entire answer, or a claim.
    claim: whether the text is a claim. note: a free comment. where: ``file:line``.
    """

    question_id: str
    question: str
    text: str
    claim: bool
    label: LabelWord
    note: str
    where: str


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The judgements of a file. fingerprint: SHA-256 (hex) of the judgements, which does not depend on their order."""

    labels: tuple[VerdictLabel, ...]
    fingerprint: str


def normalise_spaces(text: str) -> str:
    """Return the text with single spaces in place of white space, for comparisons."""
    return " ".join(text.split())


def load_verdict_labels(path: Path) -> LabelFile:
    """Load judgements from a CSV, TSV, JSON or JSONL file.

    The fields are ``question_id`` or ``question`` (without both, the judgement applies to any question), ``answer`` or
    ``claim``, optionally ``note``, and one of: ``label`` (supported, contradicted, unverifiable, abstained or another
    word of data.answer_labels), ``hallucinated`` or ``supported`` (true or false). Rows with an empty label are
    skipped. Raises DataError, which names file and line, for a row without an answer, an invalid label, and
    contradictory labels.
    """
    layout = answer_format(path)
    if layout == "ragtruth":
        raise DataError(f"{shown(path)} is not a file of labels: give rows such as {_EXAMPLE}")
    found: dict[tuple[str, str, str, bool], VerdictLabel] = {}
    for row in read_rows(path, layout):
        if isinstance(row, Refused):
            raise DataError(str(row))
        label = _label(row.fields, row.where)
        if label is None:
            continue
        key = (label.question_id, label.question.casefold(), label.text, label.claim)
        earlier = found.setdefault(key, label)
        if earlier.label != label.label:
            raise DataError(
                f"{label.where} says {label.label}, but {earlier.where} says {earlier.label} of the same answer: keep "
                "one of them"
            )
    if not found:
        raise DataError(f"there is no label in {shown(path)}: give rows such as {_EXAMPLE}")
    lines = sorted(repr((*key, label.label)) for key, label in found.items())
    return LabelFile(tuple(found.values()), hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest())


def _label(fields: Mapping[str, object], where: str) -> VerdictLabel | None:
    lower = {str(name).strip().lower(): value for name, value in fields.items()}
    word = _word(lower, where)
    if word is None:
        return None
    claim = _first(lower, ("claim",))
    text = claim or _first(lower, _ANSWERS)
    if not text:
        raise DataError(f"{where}: the row has neither an answer nor a claim; a row is such as {_EXAMPLE}")
    return VerdictLabel(
        _first(lower, _QUESTION_IDS), _first(lower, _QUESTIONS), text, bool(claim), word, _first(lower, _NOTES), where
    )


def _word(fields: Mapping[str, object], where: str) -> LabelWord | None:
    name = next((n for n in _LABELS if fields.get(n) is not None and str(fields[n]).strip()), None)
    if name is None:
        if any(n in fields for n in _LABELS):
            return None
        raise DataError(f"{where}: the row has no label; its fields are {', '.join(fields)}")
    value = fields[name]
    word = "_".join(str(value).casefold().split()).replace("-", "_")
    for words, label in ((_CONTRADICTED, "contradicted"), (_UNVERIFIABLE, "unverifiable"), (_ABSTAINED, "abstained")):
        if word in words:
            return label  # type: ignore[return-value]  # one of three literals
    if word in SUPPORTED_WORDS | HALLUCINATED_WORDS:
        return "supported" if word in SUPPORTED_WORDS else "unverifiable"
    part = "label" if "label" in name else name
    try:
        hallucinated = label_of((part, name, value))
    except FieldError as error:
        raise DataError(f"{where}: {error}") from error
    return None if hallucinated is None else "unverifiable" if hallucinated else "supported"


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    value = next((fields[n] for n in names if fields.get(n) is not None), "")
    return normalise_spaces(str(value))
