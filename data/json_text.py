"""Parse JSON, and replace characters that tokenizers, files or databases do not accept."""

from __future__ import annotations

import json
import re
from typing import Any

_UNSUPPORTED = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace each unpaired surrogate and NUL by U+FFFD, so that offsets stay valid."""
    return _UNSUPPORTED.sub("\ufffd", text)


def parse_json(text: str) -> Any:
    """Parse JSON and clean every text in it.

    A truncated emoji, written as half of an escape pair, cannot be encoded in UTF-8 and would fail much later. Raises
    ValueError and RecursionError as json.loads does.
    """
    value = json.loads(text)
    return _clean(value) if "\\u" in text else value  # such characters can only occur as escapes


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(name): _clean(item) for name, item in value.items()}
    return value
