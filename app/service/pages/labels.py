"""Pages for labelling a run's drawn answers without arm and verdict, as ``plumbline label`` shows them.

With a key, its name is the annotator's; without one, the annotator's name is in the URL. Forms identify the answer by
ID, not by number. A label therefore never goes to another answer if the draw grows or a disagreement is settled
meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from app.labelling.draws import DEFAULT_QUESTIONS
from app.labelling.terminal import KEYS
from app.service.api.evaluations_work import tenant_run
from app.service.api.resources import Resources, resources
from app.service.http.access import Caller, require
from app.service.http.errors import ApiError
from app.service.pages.frame import fields_of, page, redirect
from app.service.pages.label_desk import LabelDesk, draw, item_of, progress, stored_draw
from data.label_file import label_word
from evaluation.reports.corrected_view import agreement_lines

_SCRIPT = Path(__file__).parents[2] / "templates" / "label.js"
LABEL_KEYS = tuple((key, label_word(outcome), outcome) for key, outcome in KEYS.items())

labels_pages = APIRouter(include_in_schema=False)
Evaluator = Annotated[Caller, Depends(require("evaluate"))]
ResourcesDep = Annotated[Resources, Depends(resources)]


def label_script() -> Markup:
    """Return the script of the labelling page, which assigns keys to labels."""
    return Markup(_SCRIPT.read_text("utf-8"))  # noqa: S704 - our own file


@dataclass(frozen=True, slots=True)
class LabellerIdentity:
    """The annotator of a request.

    named: whether the name comes from the URL, without a key.
    settles: whether the annotator settles disagreements.
    base: first part of the path of the pages.
    """

    annotator: str
    named: bool
    settles: bool
    base: str = "evaluations"

    def at(self, name: str, place: str = "", *, settles: bool | None = None) -> str:
        """Return the URL of a page for this annotator.

        name: ID of the run, or name of the collection.
        place: path below ``/label``.
        settles: None for the annotator's own value.
        """
        given = {"annotator": self.annotator} if self.named and self.annotator else {}
        if self.settles if settles is None else settles:
            given["settle"] = "yes"
        return f"/{self.base}/{name}/label{place}" + (f"?{urlencode(given)}" if given else "")


async def who(
    caller: Evaluator,
    annotator: Annotated[str, Query(max_length=64)] = "",
    settle: Annotated[str, Query(max_length=8)] = "",
) -> LabellerIdentity:
    """Return the annotator of the request: the dependency of every page in this module."""
    named = caller.key_id is None
    return LabellerIdentity(annotator.strip() if named else caller.name, named, settle == "yes")


async def desk(request: Request) -> LabelDesk:
    """Return the app's LabelDesk, created on the first request."""
    state = request.app.state
    existing = getattr(state, "label_desk", None)
    if not isinstance(existing, LabelDesk):
        existing = state.label_desk = LabelDesk()
    return existing


Person = Annotated[LabellerIdentity, Depends(who)]
Desk = Annotated[LabelDesk, Depends(desk)]


@labels_pages.get("/evaluations/{run_id}/label")
async def show(run_id: str, caller: Evaluator, resources: ResourcesDep, person: Person) -> HTMLResponse:
    """Show progress, annotators and their agreement; or the form to draw questions."""
    return await run_page(run_id, caller, resources, person)


@labels_pages.post("/evaluations/{run_id}/label")
async def begin(run_id: str, request: Request, caller: Evaluator, resources: ResourcesDep, person: Person) -> Response:
    """Draw questions, or change their number."""
    try:
        fields = await fields_of(request)
        questions = _number(fields.get("questions", ""))

        def work() -> None:
            draw(
                resources.pipeline,
                tenant_run(resources.pipeline, caller, run_id),
                questions,
                fields.get("stratify") == "yes",
            )

        await resources.do(work)
    except ApiError as error:
        return await run_page(run_id, caller, resources, person, error=error)
    return redirect(person.at(run_id))


@labels_pages.get("/evaluations/{run_id}/label/next")
async def go_on(run_id: str, caller: Evaluator, resources: ResourcesDep, person: Person, labels: Desk) -> Response:
    """Redirect to the first answer that this annotator has not labelled."""

    def load() -> str | None:
        session = labels.session(
            resources.pipeline, caller, tenant_run(resources.pipeline, caller, run_id), *as_annotator(person)
        )
        place = session.first_open()
        return None if place is None else session.items[place].id

    try:
        item_id = await resources.do(load)
    except ApiError as error:
        return await run_page(run_id, caller, resources, person, error=error)
    return redirect(person.at(run_id, f"/{item_id}") if item_id else person.at(run_id))


@labels_pages.get("/evaluations/{run_id}/label/{item_id}")
async def item(
    run_id: str, item_id: str, caller: Evaluator, resources: ResourcesDep, person: Person, labels: Desk
) -> HTMLResponse:
    """Show one answer to label."""
    try:
        return await _item(run_id, item_id, caller, resources, person, labels)
    except ApiError as error:
        if error.status == 404:
            raise
        return await run_page(run_id, caller, resources, person, error=error)


@labels_pages.post("/evaluations/{run_id}/label/{item_id}")
async def give(
    run_id: str,
    item_id: str,
    request: Request,
    caller: Evaluator,
    resources: ResourcesDep,
    person: Person,
    labels: Desk,
) -> Response:
    """Store a label, then show the next answer."""
    try:
        label = KEYS.get((await fields_of(request)).get("label", ""))
        if label is None:
            raise ApiError(422, "press one of the four buttons", code="invalid_value", param="label")

        def work() -> str | None:
            info = tenant_run(resources.pipeline, caller, run_id)
            session = labels.session(resources.pipeline, caller, info, *as_annotator(person))
            place, shown = item_of(session, item_id)
            session.label(shown, label)
            return session.items[place + 1].id if place + 1 < len(session.items) else None

        following = await resources.do(work)
    except ApiError as error:
        if error.status == 404:
            raise
        if error.param == "label":
            return await _item(run_id, item_id, caller, resources, person, labels, error=error)
        return await run_page(run_id, caller, resources, person, error=error)
    return redirect(person.at(run_id, f"/{following}") if following else person.at(run_id))


async def _item(
    run_id: str,
    item_id: str,
    caller: Caller,
    resources: Resources,
    person: LabellerIdentity,
    labels: LabelDesk,
    *,
    error: ApiError | None = None,
) -> HTMLResponse:
    def load() -> dict[str, Any]:
        session = labels.session(
            resources.pipeline, caller, tenant_run(resources.pipeline, caller, run_id), *as_annotator(person)
        )
        place, shown = item_of(session, item_id)
        own = session.own()
        ids = [other.id for other in session.items]
        return {
            "item": shown,
            "number": place + 1,
            "total": len(ids),
            "labelled": sum(other.key in own for other in session.items),
            "chosen": own.get(shown.key, ""),
            "back": person.at(run_id, f"/{ids[place - 1]}") if place else "",
            "onward": person.at(run_id, f"/{ids[place + 1]}" if place + 1 < len(ids) else ""),
            "script": label_script(),
        }

    values = await resources.do(load)
    action = person.at(run_id, f"/{item_id}")
    end = person.at(run_id)
    return page(
        "label_item.html.j2",
        caller,
        "evaluations",
        error=error,
        who=person,
        keys=LABEL_KEYS,
        action=action,
        end=end,
        **values,
    )


async def run_page(
    run_id: str,
    caller: Caller,
    resources: Resources,
    person: LabellerIdentity,
    *,
    error: ApiError | None = None,
    notice: str = "",
) -> HTMLResponse:
    """Return the page of a run. notice: message about the last action."""

    def load() -> dict[str, Any]:
        info = tenant_run(resources.pipeline, caller, run_id)
        stored = stored_draw(resources.pipeline, info)
        counts = progress(resources.pipeline, info, stored) if stored is not None else None
        mine = next((a for a in counts.annotators if a.name == person.annotator), None) if counts else None
        return {
            "run": info,
            "drawn": stored,
            "progress": counts,
            "agreement": agreement_lines(counts.agreement) if counts else (),
            "labelled": mine.labelled if mine else 0,
        }

    values = await resources.do(load)
    default = DEFAULT_QUESTIONS
    return page(
        "label_run.html.j2", caller, "evaluations", error=error, who=person, default=default, notice=notice, **values
    )


def as_annotator(person: LabellerIdentity) -> tuple[str, bool]:
    """Return the annotator's name, and whether disagreements are settled. Raises ApiError 422 without a name."""
    if not person.annotator:
        raise ApiError(422, "the annotator is missing: fill in your name", code="invalid_value", param="annotator")
    return person.annotator, person.settles


def _number(text: str) -> int | None:
    """Return the number in a field; None for an empty field. Raises ApiError 422 for text that is not a number."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 8):
        raise ApiError(422, "questions must be a whole number", code="invalid_value", param="questions")
    return int(text)
