"""Stopped: how work that goes on for long is ended from outside, at the next moment that it reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from app.jobs.job import Step

StopReason = Literal["cancelled", "lost", "shutdown"]
Report = Callable[[Sequence[Step]], None]
"""Takes note of how far the work is; raises Stopped when it is to end."""


class JobStopped(BaseException):
    """cancelled: somebody asked. lost: the lease ended, and the job may be another worker's. shutdown: the worker ends.

    Not an Exception, so that what is in between treats it as it would a person's Ctrl-C.
    """

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason
