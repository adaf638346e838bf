"""Flatten accepted answers that data sets nest in objects (the layouts of SQuAD, TriviaQA and KILT)."""

from __future__ import annotations

from collections.abc import Mapping

_ALIASES = ("aliases", "alias")


def listed_texts(value: object) -> object:
    """Return the list of texts in ``{"text": [...]}`` (SQuAD) or ``{"value": ..., "aliases": [...]}`` (TriviaQA).

    In a list, objects with an "answer", a "text" or a "value" (KILT, DeepEval) are replaced by it. Objects and lists
    with only nulls (missing values in nested columns of Parquet) are left out. Other values are unchanged.
    """
    if isinstance(value, Mapping | list) and is_missing(value):
        return []
    if isinstance(value, Mapping):
        if isinstance(value.get("text"), list):
            return value["text"]
        if isinstance(value.get("value"), str):
            more: list[object] = next((value[name] for name in _ALIASES if isinstance(value.get(name), list)), [])
            return list(dict.fromkeys([value["value"], *(text for text in more if isinstance(text, str))]))
        return [_inner(value)]
    if isinstance(value, list):
        return [_inner(item) for item in value if not _is_bare(item) and not is_missing(item)]
    return value


def is_missing(value: object) -> bool:
    """Return whether a value is null, or an object or list with only nulls."""
    if isinstance(value, Mapping):
        return all(is_missing(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return all(is_missing(inner) for inner in value)
    return value is None


def _inner(item: object) -> object:
    if isinstance(item, Mapping):
        return next((item[name] for name in ("answer", "text", "value") if isinstance(item.get(name), str)), item)
    return item


def _is_bare(item: object) -> bool:
    """Return whether an item is a KILT object with only the location of an answer."""
    return isinstance(item, Mapping) and "provenance" in item and not item.get("answer")
