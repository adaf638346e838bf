"""Read the form that uploads a file of labels: the file, and the annotator whose labels they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath

from fastapi import Request
from starlette.datastructures import UploadFile

from app.labelling.label_files import ImportedLabels
from app.service.api.collections_upload import read_form
from app.service.api.resource_limits import BATCH_BYTES
from app.service.api.resources import refuse_other_sites
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from app.service.pages.labels import LabellerIdentity
from data.refused import printable


@dataclass(frozen=True, slots=True)
class LabelUpload:
    """An uploaded file of labels. others: whether the file may name other annotators."""

    person: LabellerIdentity
    content: bytes
    name: str
    others: bool


async def read_upload(request: Request, caller: Caller, person: LabellerIdentity) -> LabelUpload:
    """Read an uploaded file. Only an admin's file may name other annotators. Raises ApiError 422 without a file."""
    refuse_other_sites(request)
    form = await read_form(request, BATCH_BYTES)
    try:
        file, annotator = form.get("file"), form.get("annotator")
        if person.named and isinstance(annotator, str) and annotator.strip():
            person = replace(person, annotator=annotator.strip())
        if not isinstance(file, UploadFile) or not file.filename:
            raise ApiError(422, "choose the file with the labels", code="invalid_value", param="file")
        name = printable(PurePath(file.filename).name[:100])
        return LabelUpload(person, await file.read(), name, caller.key_id is None or caller.may("admin"))
    finally:
        await form.close()


def import_notice(imported: ImportedLabels, name: str) -> str:
    """Return the message after an import."""
    blank = f"; {imported.blank} lines without a label were skipped" if imported.blank else ""
    return f"{imported.labels} labels of {', '.join(imported.annotators)} were imported from {name}{blank}."
