"""Text of documents, models and people as a page may show it; HTML's own escaping is the template engine's."""

from __future__ import annotations

import re

from markupsafe import Markup

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def visible(value: object) -> object:
    """What HTML cannot hold, or would show in another order than it stands in, becomes U+FFFD; jinja2's finalize."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _FORBIDDEN.sub("\ufffd", value)
    return value
