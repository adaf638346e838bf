"""How large the bodies of which paths may be."""

from __future__ import annotations

import re
from collections.abc import Callable

BATCH_BYTES = 16_000_000
"""Of a body that holds many questions or many claims."""
_FORMS = re.compile(r"(?:/v1)?/collections/[^/]*/documents|/evaluations(?:/[^/]*/label/import)?")


def body_limits(usual: int) -> Callable[[str], int | None]:
    """For BodyLimit: the bytes of a path's largest body; None where the route reads it itself, piece by piece."""

    def limit(path: str) -> int | None:
        if _FORMS.fullmatch(path):
            return None
        return BATCH_BYTES if path in ("/v1/evaluations", "/v1/verify") else usual

    return limit
