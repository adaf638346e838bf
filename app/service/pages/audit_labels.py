"""Pages for labelling the audits of a collection. They hide score, policy and certificate of an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from app.errors import AppError
from app.labelling.label_files import ImportedLabels, export_labels
from app.labelling.terminal import KEYS
from app.service.api.resources import Resources, refused
from app.service.api.watch import Evaluator, ResourcesDep
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from app.service.pages.frame import fields_of, page, redirect
from app.service.pages.label_upload import import_notice, read_upload
from app.service.pages.labels import LABEL_KEYS, LabellerIdentity, as_annotator, label_script
from app.service.pages.labels import who as annotator_of
from app.watching.audit_session import AuditSession, audit_progress, store_parsed_labels
from data.errors import DataError
from evaluation.errors import EvaluationError
from evaluation.reports.corrected_view import agreement_lines

_PLACE = "/watch/{name}/label"

audit_labels_pages = APIRouter(include_in_schema=False)


async def who(person: Annotated[LabellerIdentity, Depends(annotator_of)]) -> LabellerIdentity:
    """Return the annotator of the request, with URLs below /watch."""
    return replace(person, base="watch")


Person = Annotated[LabellerIdentity, Depends(who)]


@audit_labels_pages.get(_PLACE)
async def show(name: str, caller: Evaluator, resources: ResourcesDep, person: Person) -> HTMLResponse:
    """Show progress, annotators and their agreement."""
    return await _audits_page(name, caller, resources, person)


@audit_labels_pages.get(f"{_PLACE}/next")
async def go_on(name: str, caller: Evaluator, resources: ResourcesDep, person: Person) -> Response:
    """Redirect to the first audit that this annotator has not labelled."""

    def load() -> str | None:
        session = _session(resources, caller, name, person)
        place = session.first_open()
        return None if place is None else session.items.ids[place]

    try:
        item_id = await resources.do(load)
    except ApiError as error:
        return await _audits_page(name, caller, resources, person, error=error)
    return redirect(person.at(name, f"/{item_id}") if item_id else person.at(name))


@audit_labels_pages.get(f"{_PLACE}/labels.csv")
async def download(name: str, caller: Evaluator, resources: ResourcesDep, person: Person) -> Response:
    """Return the audits with this annotator's labels as CSV."""

    def make() -> bytes:
        with TemporaryDirectory(prefix="plumbline-labels-") as folder:
            path = Path(folder) / "labels.csv"
            export_labels(_session(resources, caller, name, person), path)
            return path.read_bytes()

    try:
        content = await resources.do(make)
    except ApiError as error:
        return await _audits_page(name, caller, resources, person, error=error)
    headers = {"Content-Disposition": f'attachment; filename="audits-{name}.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


@audit_labels_pages.post(f"{_PLACE}/import")
async def upload(name: str, request: Request, caller: Evaluator, resources: ResourcesDep, person: Person) -> Response:
    """Import all labels of a completed file, or none. Only an admin's file may name other annotators."""
    try:
        file = await read_upload(request, caller, person)
        person = file.person

        def take() -> ImportedLabels:
            session = _session(resources, caller, name, person)
            try:
                labels = session.parsed(file.content, file.name, others=file.others)
            except (AppError, DataError, EvaluationError) as error:
                raise refused(error, "file") from error
            return store_parsed_labels(session, labels)

        imported = await resources.do(take)
    except ApiError as error:
        return await _audits_page(name, caller, resources, person, error=error)
    return await _audits_page(name, caller, resources, person, notice=import_notice(imported, file.name))


@audit_labels_pages.get(f"{_PLACE}/{{item_id}}")
async def item(name: str, item_id: str, caller: Evaluator, resources: ResourcesDep, person: Person) -> HTMLResponse:
    """Show one answer to label."""
    return await _item_page(name, item_id, caller, resources, person)


@audit_labels_pages.post(f"{_PLACE}/{{item_id}}")
async def give(
    name: str, item_id: str, request: Request, caller: Evaluator, resources: ResourcesDep, person: Person
) -> Response:
    """Store a label, then show the next answer."""
    try:
        label = KEYS.get((await fields_of(request)).get("label", ""))
        if label is None:
            raise ApiError(422, "press one of the four buttons", code="invalid_value", param="label")

        def work() -> str | None:
            session = _session(resources, caller, name, person)
            place = _place(session, item_id)
            session.label(session.items[place], label)
            return session.items.ids[place + 1] if place + 1 < len(session.items) else None

        following = await resources.do(work)
    except ApiError as error:
        if error.status == 404:
            raise
        if error.param == "label":
            return await _item_page(name, item_id, caller, resources, person, error=error)
        return await _audits_page(name, caller, resources, person, error=error)
    return redirect(person.at(name, f"/{following}") if following else person.at(name))


def _session(resources: Resources, caller: Caller, name: str, person: LabellerIdentity) -> AuditSession:
    """Return the annotator's session.

    Raises ApiError 404 for a collection that the caller does not have, and 422 for a missing or invalid annotator name.
    """
    own = resources.own(caller.tenant, name)
    annotator, settles = as_annotator(person)
    try:
        return AuditSession(resources.pipeline.store, own.stored, annotator, settles)
    except EvaluationError as error:
        raise ApiError(422, str(error), code="invalid_value", param="annotator") from error


def _place(session: AuditSession, item_id: str) -> int:
    """Return the index of an item. Raises ApiError 404 if it is unknown or settled, or its texts were deleted."""
    if item_id not in session.items.ids:
        raise ApiError(404, "there is no such audit to label: its texts may have been deleted", code="item_not_found")
    return session.items.ids.index(item_id)


async def _item_page(
    name: str,
    item_id: str,
    caller: Caller,
    resources: Resources,
    person: LabellerIdentity,
    *,
    error: ApiError | None = None,
) -> HTMLResponse:
    def load() -> dict[str, Any]:
        session = _session(resources, caller, name, person)
        place = _place(session, item_id)
        own, keys, ids = session.own(), session.items.keys, session.items.ids
        return {
            "item": session.items[place],
            "number": place + 1,
            "total": len(ids),
            "labelled": sum(key in own for key in keys),
            "chosen": own.get(keys[place], ""),
            "back": person.at(name, f"/{ids[place - 1]}") if place else "",
            "onward": person.at(name, f"/{ids[place + 1]}" if place + 1 < len(ids) else ""),
            "script": label_script(),
        }

    try:
        values = await resources.do(load)
    except ApiError as problem:
        if problem.status == 404:
            raise
        return await _audits_page(name, caller, resources, person, error=problem)
    action, end = person.at(name, f"/{item_id}"), person.at(name)
    return page(
        "label_item.html.j2",
        caller,
        "watch",
        error=error,
        who=person,
        keys=LABEL_KEYS,
        action=action,
        end=end,
        **values,
    )


async def _audits_page(
    name: str,
    caller: Caller,
    resources: Resources,
    person: LabellerIdentity,
    *,
    error: ApiError | None = None,
    notice: str = "",
) -> HTMLResponse:
    """Return the page of a collection's audits. notice: message about the last action."""

    def load() -> dict[str, Any]:
        own = resources.own(caller.tenant, name)
        counts = audit_progress(resources.pipeline.store, own.stored)
        mine = next((a for a in counts.annotators if a.name == person.annotator), None)
        agreement = agreement_lines(counts.agreement)
        return {"name": own.name, "progress": counts, "agreement": agreement, "labelled": mine.labelled if mine else 0}

    values = await resources.do(load)
    return page("label_audits.html.j2", caller, "watch", error=error, who=person, notice=notice, **values)
