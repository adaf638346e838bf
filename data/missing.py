"""Missing values as data frames give them: NaN, None, NaT, and the words for them in the cells of a table."""

from __future__ import annotations

from collections.abc import Mapping

_CELLS = frozenset({"nan", "NaN", "NAN", "NaT", "<NA>", "#N/A", "None", "null", "NULL"})


def without_missing(row: Mapping[str, object], cells: bool, kept: frozenset[str] = frozenset()) -> dict[str, object]:
    """The row with None for every missing value, and without missing items of lists.

    cells: the row comes from a table, where "nan" is how pandas writes a missing value. kept: fields in which "None"
    and "null" are texts (an answer may say so).
    """
    return {key: _present(value, cells, key in kept) for key, value in row.items()}


def is_missing(value: object) -> bool:
    """Whether a value is None or is not equal to itself, as NaN and NaT are not."""
    if value is None:
        return True
    if isinstance(value, str | list | tuple | Mapping | bool | int):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _present(value: object, cells: bool, kept: bool) -> object:
    if is_missing(value):
        return None
    if cells and isinstance(value, str) and value.strip() in _CELLS:
        spoken = kept and value.strip() in ("None", "null", "NULL")
        return value if spoken else None
    if isinstance(value, list | tuple):
        return [item for item in value if not is_missing(item)]
    return value
