"""JSON of files that people train and evaluate on, its texts made such as every tokenizer, file and database takes."""

from __future__ import annotations

import json
import re
from typing import Any

_NOT_TAKEN = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Lone surrogates and NUL become U+FFFD, one for one, so that offsets hold."""
    return _NOT_TAKEN.sub("\ufffd", text)


def parse_json(text: str) -> Any:
    """The value, every text in it cleaned: a cut-off emoji, written as half an escape, has no UTF-8 form, and would end
    the reading of all the others much later. Raises ValueError and RecursionError as json.loads does."""
    value = json.loads(text)
    return _cleaned(value) if "\\u" in text else value  # they can only stand there as escapes


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(name): _cleaned(item) for name, item in value.items()}
    return value
