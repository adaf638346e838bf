"""Labels as a file on the service's pages: download answers to label, upload the completed file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.errors import AppError
from app.labelling.label_files import ImportedLabels, parse_label_file, store_labels
from app.service.api.evaluations_work import tenant_run
from app.service.api.resources import refused
from app.service.http.errors import ApiError
from app.service.pages.label_desk import exported
from app.service.pages.label_upload import import_notice, read_upload
from app.service.pages.labels import Desk, Evaluator, Person, ResourcesDep, as_annotator, run_page
from data.errors import DataError
from evaluation.errors import EvaluationError

label_files_pages = APIRouter(include_in_schema=False)


@label_files_pages.get("/evaluations/{run_id}/label/labels.csv")
async def download(run_id: str, caller: Evaluator, resources: ResourcesDep, person: Person, labels: Desk) -> Response:
    """Return the answers with this annotator's labels as CSV, in the format of ``plumbline label --export``."""

    def make() -> bytes:
        info = tenant_run(resources.pipeline, caller, run_id)
        return exported(labels.session(resources.pipeline, caller, info, *as_annotator(person)))

    try:
        content = await resources.do(make)
    except ApiError as error:
        return await run_page(run_id, caller, resources, person, error=error)
    headers = {"Content-Disposition": f'attachment; filename="labels-{run_id}.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


@label_files_pages.post("/evaluations/{run_id}/label/import")
async def upload(
    run_id: str, request: Request, caller: Evaluator, resources: ResourcesDep, person: Person, labels: Desk
) -> Response:
    """Import all labels of a completed file, or none.

    With a key the labels belong to its name. Only an admin's file may name others in its column annotator.
    """
    try:
        file = await read_upload(request, caller, person)
        person = file.person
        annotator, _ = as_annotator(person)

        def take() -> ImportedLabels:
            run = labels.run(resources.pipeline, caller, tenant_run(resources.pipeline, caller, run_id))
            try:
                imported_labels = parse_label_file(run, file.content, file.name, annotator, others=file.others)
            # Errors of the file itself. The store is not queried yet.
            except (AppError, DataError, EvaluationError) as error:
                raise refused(error, "file") from error
            try:
                return store_labels(resources.pipeline.store, run, imported_labels)
            except EvaluationError as error:
                raise ApiError(409, str(error), code="draw_changed") from error

        imported = await resources.do(take)
    except ApiError as error:
        return await run_page(run_id, caller, resources, person, error=error)
    return await run_page(run_id, caller, resources, person, notice=import_notice(imported, file.name))
