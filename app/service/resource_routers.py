"""The routers of collections, jobs, evaluations, searching and verifying, and how large the bodies of their paths may
be."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.service.collections import collections_router
from app.service.evaluations import evaluations_router
from app.service.jobs import jobs_router
from app.service.retrieve import retrieve_router
from app.service.verify import verify_router

resource_routers = (collections_router, jobs_router, evaluations_router, retrieve_router, verify_router)

BATCH_BYTES = 16_000_000
"""Of a body that holds many questions or many claims."""
_UPLOADS = re.compile(r"(?:/v1)?/collections/[^/]*/documents")


def body_limits(usual: int) -> Callable[[str], int | None]:
    """For BodyLimit: the bytes of a path's largest body; None where the route reads it itself, piece by piece."""

    def limit(path: str) -> int | None:
        if _UPLOADS.fullmatch(path):
            return None
        return BATCH_BYTES if path in ("/v1/evaluations", "/v1/verify", "/evaluations") else usual

    return limit
