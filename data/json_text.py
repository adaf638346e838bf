"""Parse JSON with texts that every tokenizer, file and database accepts."""

from __future__ import annotations

import json
import re
from typing import Any

_NOT_TAKEN = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace unpaired surrogates and NUL by U+FFFD, one for one, so that offsets hold."""
    return _NOT_TAKEN.sub("\ufffd", text)


def parse_json(text: str) -> Any:
    """Parse JSON and clean every text in it. Raises ValueError and RecursionError as json.loads does.

    A truncated emoji, written as half an escape, has no UTF-8 form, and would fail much later.
    """
    value = json.loads(text)
    return _cleaned(value) if "\\u" in text else value  # they can only occur as escapes


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(name): _cleaned(item) for name, item in value.items()}
    return value
