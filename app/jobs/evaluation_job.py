"""Run evaluation jobs. The run is stored under the tenant of the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from app.accounts.tenants import tenant_collection, tenant_collections
from app.errors import AppError
from app.jobs.job import Job, Step
from app.jobs.requests import EvaluationRequest
from app.jobs.stop_signal import Report
from app.judging.run_judge import VerifierChoice, VerifierPlan
from app.pipeline import Pipeline
from app.runs.evaluate import EvaluationPlan, evaluate, with_arms
from data.errors import DataError
from data.fields import FieldError
from data.loaders import load_question_files
from data.question_json import question_from_fields
from data.questions import Question
from data.samples_paths import sample_question_paths
from evaluation.runs.experiment import Progress
from evaluation.runs.run_config import Decoding
from evaluation.verifiers.routing import has_references
from retrieval.retriever import Fusion, Mode


def run_evaluation(pipeline: Pipeline, job: Job, report: Report, started: Callable[[str], None]) -> Mapping[str, Any]:
    """Run or resume the evaluation of a job and return its result. Samples are committed as they are finished.

    report: called with the progress. started: called with the ID of the run before generation. Raises AppError for an
    invalid request, and the errors of evaluation.
    """
    plan = plan_of(pipeline, job.tenant, EvaluationRequest.from_json(job.request))

    def progress(progressed: Progress) -> None:
        report((Step("samples", progressed.done, progressed.total),))

    result = evaluate(
        pipeline,
        plan,
        name=str(job.request.get("name", "")),
        command="POST /v1/evaluations",
        progress=progress,
        started=started,
        retry_failed=job.attempts > 1,
    )
    return {"run": result.run_id, "samples": result.total, "drawn": result.drawn, "failed": result.failed}


def plan_of(pipeline: Pipeline, tenant: str, request: EvaluationRequest) -> EvaluationPlan:
    """Return the plan of a tenant's request. Raises AppError, GenerationError or EvaluationError if it is invalid."""
    questions = questions_of(request)[: request.limit]
    collection = _stored(pipeline, tenant, request.collection)
    if collection is None and _needs_documents(request, questions):
        # The pipeline would take the only existing collection, even that of another tenant.
        raise AppError("name a collection: an arm searches it, or it judges questions without references")
    plan = EvaluationPlan(
        questions=questions,
        arms=request.arms,
        collection=collection,
        samples=request.samples,
        k=request.k,
        mode=cast("Mode | None", request.mode),
        fusion=cast("Fusion | None", request.fusion),
        decoding=Decoding(**{**request.decoding, "stop": tuple(request.decoding.get("stop", ()))}),
        seed=request.seed,
        judging=VerifierPlan(
            cast(VerifierChoice, request.verifier),
            None,
            _stored(pipeline, tenant, request.trusted) if request.trusted else None,
            request.threshold,
        ),
        owner=tenant,
    )
    return with_arms(pipeline, plan)


def _needs_documents(request: EvaluationRequest, questions: Sequence[Question]) -> bool:
    if request.arms is None or set(request.arms) - {"closed_book"}:
        return True
    bare = not all(has_references(question) for question in questions)
    return not request.trusted and (request.verifier == "entailment" or (request.verifier == "auto" and bare))


def questions_of(request: EvaluationRequest) -> tuple[Question, ...]:
    """Return the questions of a request, or the shipped ones. Raises AppError that names an invalid question."""
    if request.questions is None:
        return load_question_files(sample_question_paths())
    found: list[Question] = []
    seen: set[str] = set()
    for number, fields in enumerate(request.questions):
        try:
            question = question_from_fields(fields)
        except (FieldError, DataError) as error:
            raise AppError(f"questions.{number}: {error}") from error
        if question.id in seen:
            raise AppError(f"questions.{number}: the id {question.id!r} was used before: ids must differ")
        seen.add(question.id)
        found.append(question)
    return tuple(found)


def _stored(pipeline: Pipeline, tenant: str, name: str | None) -> str | None:
    """Return the name of a tenant's collection in the store.

    name: the tenant's name; None for the tenant's only collection. Returns None if the tenant has several or none.
    Raises AppError for an unknown name.
    """
    if name is None:
        known = tenant_collections(pipeline.store, tenant)
        return known[0].stored if len(known) == 1 else None
    own = tenant_collection(pipeline.store, tenant, name)
    if own is None:
        raise AppError(f"there is no collection {name!r}")
    return own.stored
