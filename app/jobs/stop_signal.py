"""JobStopped, the exception that ends a job when it next reports progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from app.jobs.job import Step

StopReason = Literal["cancelled", "lost", "shutdown"]
Report = Callable[[Sequence[Step]], None]
"""Function that receives the progress of a job, and raises JobStopped if the job must end."""


class JobStopped(BaseException):
    """The job must stop.

    reason: "cancelled" if a user requested it, "lost" if the lease expired and another worker may hold the job,
    "shutdown" if the worker exits. The class derives from BaseException, so that handlers of Exception do not catch it.
    """

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason = reason
