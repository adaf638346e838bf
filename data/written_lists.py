"""Parse lists in table cells, in the notation of JSON, Python or numpy, which writes no commas."""

from __future__ import annotations

import ast
import json
import re

_NAN = re.compile(r"(?<![\w'\"])nan(?![\w'\"])")
_ARRAY = re.compile(r"(?:np\.|numpy\.)?array\((\[.*\])(?:,\s*dtype=[^()]*)?\)", re.DOTALL)
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ITEM = re.compile(rf"\s*({_QUOTED}|None|nan|NaN|\.\.\.)(\s*,|\s+|(?=\]))", re.DOTALL)


class ShortenedListError(ValueError):
    """A list is incomplete, because numpy wrote "..." for omitted items."""


def written_list(cell: str) -> object:
    """Return the list in a cell, in which missing items are None, or the cell itself if it is not a list.

    Raises ShortenedListError if numpy omitted items.
    """
    text = cell.strip()
    if array := _ARRAY.fullmatch(text):
        text = array[1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _numpy_items(text)
        if value is None:
            try:
                value = ast.literal_eval(_NAN.sub("None", text))
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return cell
    return value if isinstance(value, list) else cell


def _numpy_items(text: str) -> list[object] | None:
    """Return the items of an array as numpy prints it; None for other texts, in particular lists with commas."""
    if not text.startswith("[") or not text.endswith("]"):
        return None
    items: list[object] = []
    position, spaced = 1, False
    while text[position:].strip() != "]":
        item = _ITEM.match(text, position)
        if item is None:
            return None
        if item[1] == "...":
            raise ShortenedListError("numpy omitted items of this list (...): write all of them, as a JSON list")
        spaced = spaced or not item[2].strip()
        try:
            items.append(ast.literal_eval(item[1]) if item[1][0] in "'\"" else None)
        except (ValueError, SyntaxError):
            return None
        position = item.end()
    return items if spaced else None
