"""JobStopped: ends long work from outside, when it next reports progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from app.jobs.job import Step

StopReason = Literal["cancelled", "lost", "shutdown"]
Report = Callable[[Sequence[Step]], None]
"""Receives progress; raises JobStopped if the work should end."""


class JobStopped(BaseException):
    """The job must stop.

    cancelled: a user requested it. lost: the lease expired, and another worker may hold the job. shutdown: the worker
    exits. Derives from BaseException, so that code in between treats it like KeyboardInterrupt.
    """

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason
