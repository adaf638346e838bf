"""Prepare text of documents, models and people for HTML pages. The template engine does the HTML escaping."""

from __future__ import annotations

import re

from markupsafe import Markup

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(value: object) -> object:
    """Replace characters that are invalid in HTML or reorder text by U+FFFD. Used as jinja2's finalize function."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _FORBIDDEN.sub("\ufffd", value)
    return value
