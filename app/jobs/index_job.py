"""Run index jobs, which add uploaded documents to a collection and remove documents from it.

The other documents are read from the store, so the collection keeps them however they were added. They are neither
parsed nor embedded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.errors import AppError
from app.jobs.job import Job, Step
from app.jobs.requests import IndexRequest
from app.jobs.staging import staging_folder
from app.jobs.stop_signal import Report
from app.pipeline import Pipeline
from app.retrieval.uploads import mark_uploaded
from data.documents import Document
from data.loaders import load_documents
from data.refused import Refused
from data.store import Store
from retrieval.collections import linked_versions
from retrieval.generations.document_versions import StoredVersion, read_documents
from retrieval.generations.index_params import IndexParams
from retrieval.generations.manifest import Manifest
from retrieval.generations.publishing import current_generation
from retrieval.indexing.report import IndexProgress

SHOWN_REFUSED = 1000
"""Maximum number of refused items that are stored with a job. Their total number is stored too."""


@dataclass(slots=True)
class Refusals:
    """The refused items of a job, which are stored whether the job succeeds or fails.

    count: total number. kept: the first SHOWN_REFUSED items.
    """

    count: int = 0
    kept: list[dict[str, str]] = field(default_factory=list)

    def add(self, refused: Refused, folder: Path) -> Refused:
        """Add a refused item, and return it without the path of the staging folder. Notes are not counted."""
        prefix = f"{folder}/"
        shown = replace(refused, where=refused.where.replace(prefix, ""), reason=refused.reason.replace(prefix, ""))
        if shown.kind != "note":
            self.count += shown.count
            if len(self.kept) < SHOWN_REFUSED:
                self.kept.append({"where": shown.where, "reason": shown.reason})
        return shown

    def to_json(self) -> dict[str, Any]:
        """Return JSON values for the result of the job."""
        return {"refused": self.kept, "refused_count": self.count}


def run_index(pipeline: Pipeline, job: Job, report: Report, refusals: Refusals) -> Mapping[str, Any]:
    """Run an index job and return its result. report: called with the progress. refusals: filled during the run.

    Raises AppError if the collection was deleted or would be empty, and the errors of indexing.
    """
    if job.stored is None:
        raise AppError("the collection was deleted before the job could be done")
    request = IndexRequest.from_json(job.request)
    folder = staging_folder(pipeline.home, job.id)
    steps: dict[str, Step] = {}

    def progress(progressed: IndexProgress) -> None:
        steps[progressed.phase] = Step(progressed.phase, progressed.done, progressed.total)
        report(tuple(steps.values()))

    store, stored = pipeline.store, job.stored
    params = published_params(store, stored)
    uploaded: list[str] = []
    found = pipeline.index(
        stored,
        _contents(store, stored, folder, request, refusals, uploaded),
        chunking=params.chunking,
        tokenising=replace(params.tokenising, cjk="auto") if params.tokenising.cjk == "runs" else params.tokenising,
        dense=params.dense,
        progress=progress,
    )
    mark_uploaded(store, stored, uploaded)
    facts = asdict(found)
    for name in ("collection", "refused", "notes", "removed_ids"):
        facts.pop(name)
    for one in found.refused:
        if one.where.startswith("document "):  # refused by the indexer itself
            refusals.add(one, folder)
    return facts | refusals.to_json()


def published_params(store: Store, stored: str) -> IndexParams:
    """Return the parameters of the collection's published index, or the defaults if it has none."""
    with store.read() as connection:
        published = current_generation(connection, stored)
    if published is None:
        return IndexParams()
    return Manifest.from_json(published.manifest, f"the published index of {stored!r}").params


def _contents(
    store: Store, stored: str, folder: Path, request: IndexRequest, refusals: Refusals, names: list[str]
) -> Iterator[Document | Refused]:
    """Yield the uploaded documents, then the documents that remain in the collection.

    The IDs of the uploaded documents are added to ``names``. The indexer iterates over this while it holds the
    collection's lock.
    """
    passed = set(request.remove)
    versions = {
        version.document_id: stored_version for version, stored_version in linked_versions(store, stored).items()
    }
    kept = 0
    if request.uploads:
        if not folder.is_dir():
            raise AppError("the uploaded files are gone: upload them again")
        with closing(load_documents([folder], name_files=True)) as uploaded:  # type: ignore[type-var]  # a generator: it has close
            for item in uploaded:
                if isinstance(item, Refused):
                    yield refusals.add(item, folder)
                    continue
                document = _with_distinct_id(store, item, versions)
                passed.add(document.id)
                names.append(document.id)
                kept += 1
                yield document
    staying = [version for document_id, version in versions.items() if document_id not in passed]
    if request.remove and not staying and not kept:
        raise AppError("this would leave the collection without a document: delete the collection instead")
    for one in read_documents(store, staying):
        yield one.document


def _with_distinct_id(store: Store, document: Document, versions: Mapping[str, StoredVersion]) -> Document:
    """Return the uploaded document. Its ID gets the file's name if a document of another file has the same ID.

    Tables often number rows 1, 2, 3. A row replaces an earlier one only if both come from the same file.
    """
    file, version = dict(document.metadata).get("file"), versions.get(document.id)
    if file is None or version is None:
        return document
    before = next(dict(one.document.metadata).get("file") for one in read_documents(store, [version]))
    return document if before in (None, file) else replace(document, id=f"{file}#{document.id}")
