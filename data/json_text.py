"""JSON of files that people train and evaluate on, its texts made such as every tokenizer, file and database takes."""

from __future__ import annotations

import json
from typing import Any

_MAY_BE_THERE = ("\\u", "\0")


def clean_text(text: str) -> str:
    """Lone surrogates and NUL become U+FFFD, one for one, so that offsets hold."""
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


def parse_json(text: str) -> Any:
    """The value, every text in it cleaned: a cut-off emoji, written as half an escape, has no UTF-8 form, and would end
    the reading of all the others much later. Raises ValueError and RecursionError as json.loads does."""
    value = json.loads(text)
    return _cleaned(value) if any(sign in text for sign in _MAY_BE_THERE) else value


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(name): _cleaned(item) for name, item in value.items()}
    return value
