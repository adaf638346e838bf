"""The worker, which takes jobs one by one, renews its lease every second, and records how each job ended."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.errors import USER_ERRORS
from app.home.bucket_age import prune_buckets
from app.home.query_age import prune_audits, prune_queries
from app.jobs.evaluation_job import run_evaluation
from app.jobs.index_job import Refusals, run_index
from app.jobs.job import Job, Step
from app.jobs.leases import LEASE_S, Heartbeat, JobLeases
from app.jobs.staging import remove_orphans, remove_staging
from app.jobs.stop_signal import JobStopped, StopReason
from app.pipeline import Pipeline
from data.columns import utc_now
from data.errors import DataError, StoreBusyError, StoreUnavailableError
from data.schema import jobs
from retrieval.errors import CollectionBusyError

LOGGER = "plumbline.jobs"
BEAT_S = 1.0
POLL_S = 0.5
UPLOADS_KEPT_DAYS = 7
"""Days for which the uploads of a failed or cancelled job are kept for a retry."""
TIDY_S = 3600.0
AWAY_S = 5.0
"""Seconds before the next query of a database that did not answer."""
BUSY_WAIT_S = 2.0
"""Seconds before a job is retried after another process locked its collection or the database."""


class Worker:
    """A worker that runs jobs in the calling thread. Set ``stopping`` to end it; its current job is queued again.

    leases: leases of this worker; by default new ones of ``lease_s`` seconds. beat_s: interval of renewals in seconds.
    alive: called about every second, also during a job.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        leases: JobLeases | None = None,
        lease_s: float = LEASE_S,
        beat_s: float = BEAT_S,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
        self._pipeline = pipeline
        self._leases = leases or JobLeases(pipeline.store, owner, lease_s=lease_s)
        self._beat_s = min(beat_s, lease_s / 3)
        self._alive = alive
        self.stopping = threading.Event()
        self._log = logging.getLogger(LOGGER)

    def run(self, poll_s: float = POLL_S) -> None:
        """Run jobs until ``stopping`` is set. poll_s: seconds between queries for jobs. Waits for the database."""
        tidied = time.monotonic() - TIDY_S
        while not self.stopping.is_set():
            self._alive()
            if time.monotonic() - tidied >= TIDY_S:
                tidied = time.monotonic()
                with suppress(DataError):
                    self.tidy()
            try:
                pause_s = 0.0 if self._leases.waiting() and self.run_one() else poll_s
            except DataError as error:
                self._log.error("cannot query the job table: %s", error)
                pause_s = max(poll_s, AWAY_S)
            if pause_s:
                self.stopping.wait(pause_s)

    def run_one(self) -> bool:
        """Take one job and run it. Return False if there is none. Raises DataError if the database does not answer."""
        job = self._leases.take()
        if job is None:
            return False
        self._log.info("job %s (%s) started, attempt %d", job.id, job.kind, job.attempts)
        refusals = Refusals()
        try:
            with self._beating(job) as beating:
                result = self._do(job, beating, refusals)
        except JobStopped as stopped:
            self._stopped(job, stopped.reason, refusals)
        except (CollectionBusyError, StoreBusyError, StoreUnavailableError) as error:
            # Another process writes the collection, or the database does not answer. The job later continues from its
            # saved work.
            self._log.info("job %s waits: %s", job.id, error)
            self._leases.give_back(job.id, BUSY_WAIT_S)
        except (*USER_ERRORS, OSError) as error:
            self._failed(job, self._public(str(error)), refusals)
        # A job must not end the worker. The error text may quote documents, so it is not logged.
        except Exception as error:
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log.error("job %s failed\n%s%s", job.id, where, type(error).__name__)
            self._failed(job, f"internal error ({type(error).__name__}): see the server's log", refusals)
        else:
            if self._leases.end(job.id, "succeeded", result=result):
                remove_staging(self._pipeline.home, job.id)
                self._log.info("job %s done", job.id)
        return True

    def tidy(self) -> None:
        """Delete data that is no longer needed.

        This is: uploads of unknown jobs and of jobs that failed more than UPLOADS_KEPT_DAYS ago, unused rate limits,
        and queries and texts of audits beyond the retention period.
        """
        lately = utc_now() - timedelta(days=UPLOADS_KEPT_DAYS)
        with self._pipeline.store.read() as connection:
            waiting = jobs.c.finished_at.is_(None) | (jobs.c.finished_at > lately)
            query = select(jobs.c.id).where(jobs.c.status != "succeeded", waiting)
            known = connection.execute(query).scalars().all()
        remove_orphans(self._pipeline.home, known)
        if self._pipeline.store.shared:
            prune_buckets(self._pipeline.store)
        days = self._pipeline.settings.keep_queries_days
        if days:
            count = prune_queries(self._pipeline.store, timedelta(days=days))
            if count:
                self._log.info("deleted %d stored queries older than %g days", count, days)
            audited = prune_audits(self._pipeline.store, timedelta(days=days))
            if audited:
                self._log.info("deleted the texts of %d audits older than %g days", audited, days)

    def _do(self, job: Job, beating: _Beating, refusals: Refusals) -> Mapping[str, Any]:
        if job.kind == "index":
            return run_index(self._pipeline, job, beating.report, refusals)
        return run_evaluation(self._pipeline, job, beating.report, beating.started)

    def _stopped(self, job: Job, reason: StopReason, refusals: Refusals) -> None:
        self._log.info("job %s stopped: %s", job.id, reason)
        if reason == "cancelled":
            self._leases.end(job.id, "cancelled", result=refusals.to_json() if job.kind == "index" else None)
        elif reason == "shutdown":
            self._leases.give_back(job.id)

    def _failed(self, job: Job, error: str, refusals: Refusals) -> None:
        self._log.info("job %s failed", job.id)
        result = refusals.to_json() if job.kind == "index" else None
        self._leases.end(job.id, "failed", error=error, result=result)

    def _public(self, text: str) -> str:
        """Return a message without the path of the home, which clients must not see."""
        home = str(self._pipeline.home)
        return text.replace(f"{home}/staging/", "").replace(home, "HOME")[:4000]

    @contextmanager
    def _beating(self, job: Job) -> Iterator[_Beating]:
        def renew(steps: Sequence[Step], run: str | None) -> Heartbeat:
            self._alive()
            return self._leases.renew(job.id, steps, run)

        beating = _Beating(renew, self.stopping, self._beat_s)
        thread = threading.Thread(target=beating.run, name=f"heartbeat {job.id[:8]}", daemon=True)
        thread.start()
        try:
            yield beating
        finally:
            beating.over.set()
            thread.join()
            beating.last()


class _Beating:
    """The heartbeat of a job: a thread renews the lease and stores the progress, and ``report`` stops the job."""

    def __init__(self, renew: Callable[..., Any], stopping: threading.Event, every_s: float) -> None:
        self.over = threading.Event()
        self._renew = renew
        self._stopping = stopping
        self._every_s = every_s
        self._steps: tuple[Step, ...] = ()
        self._run: str | None = None
        self._stop: StopReason | None = None

    def report(self, steps: Sequence[Step]) -> None:
        """Keep the progress for the next renewal. Raises JobStopped if the job must stop."""
        self._steps = tuple(steps)
        if self._stop is not None:
            raise JobStopped(self._stop)
        if self._stopping.is_set():
            raise JobStopped("shutdown")

    def started(self, run_id: str) -> None:
        """Store the ID of an evaluation's run at once."""
        self._run = run_id
        self._beat()

    def run(self) -> None:
        """Renew the lease until the work ends."""
        while not self.over.wait(self._every_s):
            self._beat()

    def last(self) -> None:
        """Store the final progress, unless the lease was lost."""
        if self._stop != "lost":
            self._beat()

    def _beat(self) -> None:
        try:
            beat = self._renew(self._steps, self._run)
        except DataError:
            return  # a short failure does no harm, because the lease is longer than one interval
        if not beat.held:
            self._stop = "lost"
        elif beat.stopping:
            self._stop = "cancelled"
