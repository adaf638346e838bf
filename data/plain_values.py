"""Convert values of data frames and arrays to JSON types: missing values become None, and arrays become lists.

A missing value is NaN, pandas' NA and NaT, or a word that pandas writes for them in text. pandas and numpy are not
imported; their values are recognised by their attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal

_MISSING_TYPES = frozenset(("NAType", "NaTType"))
MISSING_TEXTS = frozenset(("nan", "<NA>", "NaT"))
"""Words that pandas writes for missing values in text."""
_MISSING_CELLS = frozenset((*MISSING_TEXTS, "NaN", "NAN", "None", "null", "NULL", "#N/A"))
"""Words for missing values in cells of tables, which also include those of Python, SQL, JSON and Excel."""
_MAX_DEPTH = 64


def plain_value(value: object, cell: bool = False, depth: int = 0) -> object:
    """Return the value as Python types: None, bool, int, float, str, list, dict. Other types are unchanged.

    cell: whether the value is a cell of a table. depth: current level of nesting. Raises ValueError for nesting of more
    than 64 levels.
    """
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        text = str(value)
        return None if text.strip() in (_MISSING_CELLS if cell else MISSING_TEXTS) else text
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if type(value).__name__ in _MISSING_TYPES:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain_value(inner, False, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item, False, depth + 1) for item in value]
    for convert in ("tolist", "to_pylist", "as_py"):  # numpy and pandas; pyarrow's arrays and scalars
        if callable(method := getattr(value, convert, None)):
            return plain_value(method(), cell, depth + 1)
    return value
