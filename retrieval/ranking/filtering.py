"""Metadata filters: parse them, and find the chunks that pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from retrieval.chunking.chunks import Chunk
from retrieval.errors import RetrievalError

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
Metadata = Sequence[tuple[str, str]]
BUILT_IN = ("document", "title")
"""Keys that every document has. Metadata of the same name takes precedence."""

_FILTER = re.compile(r"\s*([^\s=<>!](?:[^=<>!]*[^\s=<>!])?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_MAX_SHOWN_VALUES = 12


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter ``key operator value``. With several values, "=" means any of them and "!=" none of them.

    A document with several values of the key passes if any value matches, and under "!=" if no value is among the given
    ones. A document without the key passes "!=" only. "<", "<=", ">" and ">=" compare as numbers if both sides are
    numbers, otherwise as text (so that dates written 2024-05-31 compare correctly).
    """

    key: str
    operator: Operator
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.key.strip():
            raise ValueError("a filter's key must not be empty")
        if self.operator not in get_args(Operator):
            raise ValueError(
                f"a filter's operator must be one of {' '.join(get_args(Operator))}, not {self.operator!r}"
            )
        if not self.values or (self.operator not in ("=", "!=") and len(self.values) > 1):
            raise ValueError(f"the filter {self} has {len(self.values)} values; {self.operator} takes one")

    def __str__(self) -> str:
        return f"{self.key}{self.operator}{'|'.join(self.values)}"

    def passes(self, values: Sequence[str]) -> bool:
        """Return whether a document with these values of the key passes."""
        if self.operator == "=":
            return any(value in self.values for value in values)
        if self.operator == "!=":
            return not any(value in self.values for value in values)
        return any(_compare(value, self.operator, self.values[0]) for value in values)


def parse_filter(text: str) -> Filter:
    """Parse ``language=en|de``, ``year>=2020``, ``source!=draft``. Raises RetrievalError, with the accepted forms."""
    match = _FILTER.fullmatch(text)
    if match is None:
        raise RetrievalError(f"{text!r} is not a filter: write key=value, key=one|other, key!=value or key>=value")
    key, operator, rest = match.groups()
    values = tuple(value.strip() for value in rest.split("|")) if operator in ("=", "!=") else (rest,)
    return Filter(key, operator, values)  # type: ignore[arg-type]


class DocumentFilters:
    """An evaluator of filters for the chunks of an index. Chunks of one document must be contiguous."""

    def __init__(self, chunks: Sequence[Chunk], metadata: Mapping[str, Metadata]):
        """metadata: (key, value) pairs by document ID; a document that is not listed has no metadata."""
        ids: list[str] = []
        titles: list[str] = []
        starts: list[int] = []
        for position, chunk in enumerate(chunks):
            if not ids or ids[-1] != chunk.document_id:
                ids.append(chunk.document_id)
                titles.append(chunk.title)
                starts.append(position)
        self._size = len(chunks)
        self._ids, self._titles = tuple(ids), tuple(titles)
        ends = [*starts[1:], self._size][: len(starts)]
        self._counts = np.asarray(ends, dtype=np.int64) - np.asarray(starts, dtype=np.int64)
        self._metadata = metadata
        self._keys = frozenset(key for pairs in metadata.values() for key, _ in pairs)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that filters can use."""
        return tuple(sorted({*self._keys, *BUILT_IN}))

    def allowed(self, filters: Iterable[Filter]) -> NDArray[np.bool_]:
        """Return the (N,) mask of the chunks that pass all filters.

        Raises RetrievalError, listing the keys, for an unknown key.
        """
        mask = np.ones(len(self._ids), dtype=bool)
        for one in filters:
            passes = [one.passes(values) for values in self._values(one.key)]
            mask &= np.asarray(passes, dtype=bool).reshape(mask.shape)
        return np.repeat(mask, self._counts)

    def described(self, one: Filter) -> str:
        """Return the filter and some values of its key, for the message that no document passes."""
        values = sorted({value for found in self._values(one.key) for value in found})
        more = f" and {len(values) - _MAX_SHOWN_VALUES} more" if len(values) > _MAX_SHOWN_VALUES else ""
        return f"{one} ({one.key} is {', '.join(map(repr, values[:_MAX_SHOWN_VALUES]))}{more})"

    def _values(self, key: str) -> Iterable[Sequence[str]]:
        if key in self._keys:
            return ([value for name, value in self._metadata.get(i, ()) if name == key] for i in self._ids)
        if key == "document":
            return ((i,) for i in self._ids)
        if key == "title":
            return ((title,) for title in self._titles)
        raise RetrievalError(f"no document has the metadata {key!r}: filter by one of {', '.join(self.keys)}")


def _compare(value: str, operator: str, limit: str) -> bool:
    one, other = _number(value), _number(limit)
    if one is None or other is None:
        return _is_true((value > limit) - (value < limit), operator)
    return _is_true((one > other) - (one < other), operator)


def _is_true(sign: int, operator: str) -> bool:
    return {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None  # "nan" is a word here
