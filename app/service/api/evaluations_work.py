"""Operations on evaluations. They do not depend on routes; the API and the pages share them."""

from __future__ import annotations

import re
import threading
import uuid
from collections import OrderedDict
from typing import Any

from app.accounts.tenants import tenant_collection
from app.errors import AppError
from app.jobs.evaluation_job import plan_of
from app.jobs.job import Submitted
from app.jobs.job_store import JobStore
from app.jobs.requests import EvaluationRequest, digest
from app.pipeline import Pipeline
from app.runs.comparison import comparison_data
from app.runs.evaluate import arms_of
from app.runs.report import report_data
from app.service.api.jobs import check_job_limit
from app.service.api.resources import missing, refused
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from evaluation.errors import EvaluationError
from evaluation.reports.report import render_report
from evaluation.reports.report_data import ReportData
from evaluation.reports.tabular import as_json
from evaluation.runs.run_store import RunInfo, RunStore
from generation.errors import GenerationError

_RUN = re.compile(r"[0-9a-f]{16}")
_SUMMARIES_KEPT = 32


class Reports:
    """A builder of run reports. It builds one report at a time, since each takes seconds of CPU time, and caches
    summaries until the run changes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._summaries: OrderedDict[tuple[str, str, int], dict[str, Any]] = OrderedDict()

    def summary(self, pipeline: Pipeline, info: RunInfo) -> dict[str, Any] | None:
        """Return the estimates of a run; None before its first sample."""
        if not info.samples:
            return None
        key = (info.id, info.status, info.samples)
        with self._lock:
            summary = self._summaries.get(key)
            if summary is None:
                summary = self._summaries[key] = report_data(pipeline, info.id).summary.to_json()
                while len(self._summaries) > _SUMMARIES_KEPT:
                    self._summaries.popitem(last=False)
            return summary

    def html(self, pipeline: Pipeline, run_id: str, against: str | None = None) -> str:
        """Return the report as HTML. Raises ApiError 409 if there is nothing to report or to compare yet."""
        with self._lock:
            return render_report(_report(pipeline, run_id, against))

    def json(self, pipeline: Pipeline, run_id: str, against: str | None = None) -> dict[str, Any]:
        """Return the report's figures; see evaluation.reports.tabular. Raises the errors of ``html``."""
        with self._lock:
            return as_json(_report(pipeline, run_id, against))


def start(pipeline: Pipeline, caller: Caller, request: EvaluationRequest, key: str | None) -> Submitted:
    """Queue an evaluation. Raises ApiError 404 for an unknown collection, 422 for an invalid request, and 429 if too
    many jobs wait.
    """
    for name in (request.collection, request.trusted):
        if name is not None and tenant_collection(pipeline.store, caller.tenant, name) is None:
            raise missing("collection")
    try:
        plan = plan_of(pipeline, caller.tenant, request)
        arms_of(plan)
    except (AppError, EvaluationError, GenerationError) as error:
        raise refused(error) from error
    if not plan.questions:
        raise refused(AppError("there are no questions: send at least one"), "questions")
    most = pipeline.settings.max_samples
    if request.samples > most:
        raise refused(AppError(f"samples is {request.samples}: this server generates at most {most}"), "samples")
    allowed = caller.limits.max_tokens
    if allowed is not None and plan.decoding.max_tokens > allowed:
        message = f"max_tokens is {plan.decoding.max_tokens}: this key may request at most {allowed}"
        raise refused(AppError(message), "max_tokens")
    check_job_limit(pipeline, caller)
    fields = request.to_json()
    return JobStore(pipeline.store).submit(
        uuid.uuid4().hex, "evaluation", caller.tenant, fields, request_sha256=digest(fields), idempotency_key=key
    )


def tenant_run(pipeline: Pipeline, caller: Caller, run_id: str) -> RunInfo:
    """Return the caller's run. Raises ApiError 404 if the caller's tenant has no run with this id."""
    info = RunStore(pipeline.store).tenant_run(caller.tenant, run_id) if _RUN.fullmatch(run_id) else None
    if info is None:
        raise missing("evaluation")
    return info


def _report(pipeline: Pipeline, run_id: str, against: str | None) -> ReportData:
    try:
        return comparison_data(pipeline, run_id, against) if against else report_data(pipeline, run_id)
    except (AppError, EvaluationError) as error:
        raise ApiError(409, str(error), code="no_report", retry_after=5) from error
