"""Maximum body sizes by path."""

from __future__ import annotations

import re
from collections.abc import Callable

BATCH_BYTES = 16_000_000
"""Maximum bytes of a body with many questions or claims."""
_FORMS = re.compile(r"(?:/v1)?/collections/[^/]*/documents|/evaluations(?:/[^/]*/label/import)?")


def body_limits(usual: int) -> Callable[[str], int | None]:
    """Return a function for BodyLimit that maps a path to the maximum bytes of its body.

    usual: the maximum of most paths. The function returns None for paths whose routes read the body in chunks
    themselves.
    """

    def limit(path: str) -> int | None:
        if _FORMS.fullmatch(path):
            return None
        return BATCH_BYTES if path in ("/v1/evaluations", "/v1/verify") else usual

    return limit
