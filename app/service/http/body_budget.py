"""A memory budget for all request bodies in flight.

It prevents many connections from multiplying the limit of one body.
"""

from __future__ import annotations

from app.service.http.errors import ApiError

FREE_BYTES = 65_536
"""Bytes of each body that are not counted, so that questions are accepted while large bodies use up the budget."""


class BodyBudget:
    """The memory budget of one event loop. most: maximum bytes, without the first FREE_BYTES of each body."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0

    def take(self, size: int) -> None:
        """Reserve memory. Raises ApiError 429 and reserves nothing if less is available."""
        if self.used + size > self.most:
            raise ApiError(
                429,
                f"request bodies use up the {self.most // 1_000_000} MB that this server allows: try again",
                code="too_many_bodies",
                retry_after=2,
            )
        self.used += size

    def give_back(self, size: int) -> None:
        """Release memory that ``take`` reserved."""
        self.used -= size
