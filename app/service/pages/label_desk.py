"""Labelling by several people at once: sessions on a run's draw, cached while the draw is unchanged."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from app.accounts.tenants import tenant_collections
from app.errors import AppError, UsageError
from app.labelling.draws import DrawRequest, LabelledRunInfo, open_draw
from app.labelling.items import LabelItem
from app.labelling.label_files import export_labels
from app.labelling.sessions import LabelSession
from app.pipeline import Pipeline
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from evaluation.correction.label_progress import LabelProgress, progress_of
from evaluation.correction.label_store import LabelStore, StoredDraw
from evaluation.errors import EvaluationError
from evaluation.runs.run_store import RunInfo

_RUNS_KEPT = 2
_PEOPLE_KEPT = 8
_NAMES = ("trusted", "collection")
"""Keys of a run's labels that name the collections with its evidence."""


@dataclass(slots=True)
class _CachedRun:
    """A run with its answers in memory, and its sessions by annotator."""

    run: LabelledRunInfo
    sessions: OrderedDict[str, LabelSession] = field(default_factory=OrderedDict)


class LabelDesk:
    """The labelling sessions of an app. Labels are not cached: they are stored at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, _CachedRun] = OrderedDict()

    def session(self, pipeline: Pipeline, caller: Caller, info: RunInfo, annotator: str, settles: bool) -> LabelSession:
        """Return an annotator's session. settles: whether it shows disagreements, which change with every label.

        Raises ApiError 409 if no questions are drawn, and 422 for an invalid name.
        """
        try:
            with self._lock:
                open_run = self._run(pipeline, caller, info)
                if not settles:
                    return _session(pipeline, open_run, annotator)
            return LabelSession(pipeline.store, open_run.run, annotator, adjudicate=True)
        except EvaluationError as error:
            raise ApiError(422, str(error), code="invalid_value", param="annotator") from error

    def run(self, pipeline: Pipeline, caller: Caller, info: RunInfo) -> LabelledRunInfo:
        """Return the run with its draw. Raises ApiError 409 if no questions are drawn."""
        with self._lock:
            return self._run(pipeline, caller, info).run

    def _run(self, pipeline: Pipeline, caller: Caller, info: RunInfo) -> _CachedRun:
        stored = stored_draw(pipeline, info)
        if stored is None:
            raise ApiError(409, "no questions are drawn yet: enter the number of questions to label", code="no_draw")
        open_run = self._held.get(info.id)
        if open_run is None or open_run.run.stored != stored or open_run.run.info.samples != info.samples:
            run = _opened(pipeline, info, DrawRequest())
            open_run = self._held[info.id] = _CachedRun(replace(run, info=own_documents(pipeline, caller, run.info)))
            while len(self._held) > _RUNS_KEPT:
                self._held.popitem(last=False)
        return open_run


def _session(pipeline: Pipeline, open_run: _CachedRun, annotator: str) -> LabelSession:
    session = open_run.sessions.get(annotator)
    if session is None:
        session = open_run.sessions[annotator] = LabelSession(pipeline.store, open_run.run, annotator)
        while len(open_run.sessions) > _PEOPLE_KEPT:
            open_run.sessions.popitem(last=False)
    return session


def stored_draw(pipeline: Pipeline, info: RunInfo) -> StoredDraw | None:
    """Return the run's draw; None if no questions are drawn. Raises ApiError 409 if it cannot be read."""
    try:
        return LabelStore(pipeline.store).load_draw(info.id)
    except EvaluationError as error:
        raise ApiError(409, str(error), code="no_draw") from error


def draw(pipeline: Pipeline, info: RunInfo, questions: int | None, stratify: bool) -> None:
    """Draw questions, or change their number.

    questions: number of questions; None keeps the number, or takes the default.
    stratify: whether to draw equally many flagged and unflagged answers.

    Raises ApiError 409 for an unfinished run and for settings of a different draw, and 422 for an invalid number.
    """
    stored = stored_draw(pipeline, info)
    if stored is not None and (stratify or stored.stratified):
        if questions in (None, stored.wanted) and stratify == stored.stratified:
            return
        message = f"the questions are drawn already: run plumbline label {info.id} --redraw on the server to draw again"
        raise ApiError(409, message, code="already_drawn")
    most = len(stored.draw.questions) if stored is not None else None
    if most is not None and questions is not None and not 2 <= questions <= most:
        message = f"questions is {questions}: choose 2 to {most}"
        raise ApiError(422, message, code="invalid_value", param="questions")
    _opened(pipeline, info, DrawRequest(questions=questions, stratify=stratify))


def progress(pipeline: Pipeline, info: RunInfo, stored: StoredDraw) -> LabelProgress:
    """Return the labels of all annotators, without the answers."""
    return progress_of(stored, LabelStore(pipeline.store).load(info.id, stored.decoding))


def item_of(session: LabelSession, item_id: str) -> tuple[int, LabelItem]:
    """Return an item and its index. Raises ApiError 404 if it is unknown, not in a new draw, or settled already."""
    for place, item in enumerate(session.items):
        if item.id == item_id:
            return place, item
    raise ApiError(404, "there is no such answer to label: the draw may have changed", code="item_not_found")


def exported(session: LabelSession) -> bytes:
    """Return the session's items with this annotator's labels, in the format of ``plumbline label --export``."""
    with TemporaryDirectory(prefix="plumbline-labels-") as folder:
        path = Path(folder) / "labels.csv"
        export_labels(session, path)
        return path.read_bytes()


def _opened(pipeline: Pipeline, info: RunInfo, request: DrawRequest) -> LabelledRunInfo:
    try:
        return open_draw(pipeline, info.id, request)
    except (EvaluationError, UsageError) as error:
        raise ApiError(422, str(error), code="invalid_value", param="questions") from error
    except AppError as error:
        raise ApiError(409, str(error), code="run_not_finished") from error


def own_documents(pipeline: Pipeline, caller: Caller, info: RunInfo) -> RunInfo:
    """Return the run without names of collections that do not belong to the caller.

    Labelling shows the context of the evidence, and a deleted name may belong to another tenant by now.
    """
    own = {collection.stored for collection in tenant_collections(pipeline.store, caller.tenant)}
    kept = tuple((name, value) for name, value in info.labels if name not in _NAMES or value in own)
    return replace(info, labels=kept)
