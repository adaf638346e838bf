"""Rows of a file or of objects in memory, with JSON values (see data.plain_values)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from data.fields import kind_of
from data.plain_values import plain_value
from data.refused import Refused


@dataclass(frozen=True, slots=True)
class Row:
    """One object. number: its line or item, from 1. where: ``file:line``, or ``file, item n`` in a JSON list."""

    number: int
    where: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is neither an answer nor an error, such as the trace of a health check."""

    where: str
    reason: str


def rows_of(items: Iterable[object], name: str) -> Iterator[Row | Refused]:
    """Yield the rows of objects in memory. Missing values of data frames become None, and arrays become lists.

    name: display name of the objects.
    """
    for number, item in enumerate(items, start=1):
        yield plain_row(number, f"{name}, item {number}", item)


def plain_row(number: int, where: str, item: object, cells: bool = False) -> Row | Refused:
    """Return the row of an object, or a Refused if it is invalid. cells: whether its values are cells of a table."""
    if not isinstance(item, Mapping):
        return Refused(where, f"it is {kind_of(item)}, it must be an object such as {{...}}")
    try:
        return Row(number, where, {str(key): plain_value(value, cells) for key, value in item.items()})
    except (ValueError, RecursionError) as error:
        return Refused(where, f"it cannot be read: {error}")
