"""Parse people's labels of answers (hallucinated or not) and marked character spans, in the forms that files use."""

from __future__ import annotations

from collections.abc import Mapping

from data.fields import FieldError, kind_of

_TRUE, _FALSE = frozenset({"true", "yes", "1", "1.0"}), frozenset({"false", "no", "0", "0.0"})
SUPPORTED_WORDS = frozenset(
    {"supported", "faithful", "grounded", "factual", "consistent", "entailment", "entailed", "correct"}
    | {"not_hallucinated"}
)
HALLUCINATED_WORDS = frozenset(
    {"hallucinated", "hallucination", "unsupported", "unfaithful", "ungrounded", "inconsistent", "contradicted"}
    | {"contradiction", "refuted", "incorrect", "not_supported"}
)
_NONE = frozenset({"", "nan", "none", "null"})


def label_of(found: tuple[str, str, object]) -> bool | None:
    """Return whether people labelled the answer hallucinated; None without a label.

    found: part of the record ("hallucinated", "supported" or "label"), name of its field, and value. A label word is
    accepted in each part; true or false only in the first two, where the meaning is clear. Raises FieldError for any
    other value, because a guess could be a wrong label.
    """
    part, name, value = found
    if value is None:
        return None
    if isinstance(value, str) and value.strip().casefold() in _NONE:
        return None
    if isinstance(value, str):
        word = "_".join(value.casefold().split()).replace("-", "_")
        if word in SUPPORTED_WORDS or word in HALLUCINATED_WORDS:
            return word in HALLUCINATED_WORDS
    truth = _truth(value)
    if truth is None:
        raise FieldError(f'"{name}" is {_quoted(value)}: a label must be true or false, or a word such as supported')
    if part == "label":
        raise FieldError(
            f'"{name}" is {_quoted(value)}, which may mean supported or hallucinated: name it as '
            "the field of labels that mean hallucinated, or of those that mean supported, or read no labels"
        )
    return truth if part == "hallucinated" else not truth


def flag_of(name: str, value: object) -> bool | None:
    """Return true or false, as files write it; None if the field is empty. Raises FieldError for other values."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in _NONE):
        return None
    if (truth := _truth(value)) is None:
        raise FieldError(f'"{name}" is {_quoted(value)}: it must be true or false')
    return truth


def marked_spans(value: object, length: int) -> tuple[tuple[int, int], ...] | None:
    """Return the spans in a list of objects {start, end}, marked as hallucinated; None if the value is another list.

    length: length of the answer, at which spans are truncated. Raises FieldError for an invalid span.
    """
    if not isinstance(value, list) or not all(isinstance(item, Mapping) and "start" in item for item in value):
        return None
    spans = []
    for item in value:
        start, end = item.get("start"), item.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise FieldError(f"a marked span is from {start!r} to {end!r}: it must be character offsets of the answer")
        if start < min(end, length):
            spans.append((start, min(end, length)))
    return tuple(sorted(spans))


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().casefold()
        return True if word in _TRUE else False if word in _FALSE else None
    return None


def _quoted(value: object) -> str:
    return repr(value[:40]) if isinstance(value, str) else kind_of(value) if isinstance(value, list) else repr(value)
