"""Common parts of the server-rendered pages: templates, security headers, forms, and login."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

import jinja2
from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.page_text import visible
from app.service.api.resources import refuse_other_sites
from app.service.http.access import COOKIE, Caller, access_of, address_of, require
from app.service.http.errors import UNREAD, ApiError
from app.service.http.sub_path import root
from evaluation.reports.report_view import interval, percent
from evaluation.statistics.estimates import HallucinationEstimate

_TEMPLATES = Path(__file__).parents[2] / "templates"
login_pages = APIRouter(include_in_schema=False)


def _share(estimate: HallucinationEstimate) -> str:
    return f"{percent(estimate.rate)} {interval(estimate)}"


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_TEMPLATES),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=visible,
)
ENVIRONMENT.filters["share"] = _share
ENVIRONMENT.globals["root"] = root


def page(
    template: str, caller: Caller, here: str, *, error: ApiError | None = None, following: bool = False, **values: Any
) -> HTMLResponse:
    """Render a page. here: its entry in the navigation. following: whether it reloads itself until work has ended."""
    nonce = secrets.token_urlsafe(16)
    html = ENVIRONMENT.get_template(template).render(
        nonce=nonce, caller=caller, here=here, error=error, following=following, **values
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    if error is not None and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error is not None and error.status in UNREAD:
        headers["Connection"] = "close"
    return HTMLResponse(html, status_code=error.status if error else 200, headers=headers)


def redirect(path: str) -> RedirectResponse:
    """Redirect to another page, so that a reload does not submit the form again."""
    return RedirectResponse(path, status_code=303)


async def fields_of(request: Request) -> dict[str, str]:
    """Return the fields of a short form of the service's pages. Raises ApiError 400, 403 and 415."""
    refuse_other_sites(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError(415, "this path accepts only the form of its own page", code="not_a_form")
    try:
        body = (await request.body()).decode("ascii")
        parsed = parse_qs(body, keep_blank_values=True, errors="strict", max_num_fields=64)
    except ValueError as error:
        raise ApiError(400, "the form cannot be read: send it in UTF-8", code="bad_request") from error
    return {name: values[-1] for name, values in parsed.items()}


def safe_path(path: str) -> str:
    """Return the path if it is a page of the service, else the start page."""
    known = path.startswith(("/collections", "/evaluations", "/watch")) and "//" not in path and "\\" not in path
    return path if known and path.isascii() and path.isprintable() else "/"


@login_pages.get("/login")
async def login() -> HTMLResponse:
    """Show the login page."""
    return page("login.html.j2", Caller(), "")


@login_pages.post("/login")
async def log_in(request: Request) -> Response:
    """Store the key in a cookie that scripts cannot read and other sites cannot send."""
    access = access_of(request)
    try:
        secret = (await fields_of(request)).get("key", "").strip()
        caller = await access.caller(secret, address_of(request))
        if caller.key_id is None:
            raise ApiError(401, "this is not an API key of this service: keys begin with pl-", code="invalid_api_key")
    except ApiError as error:
        return page("login.html.j2", Caller(), "", error=error)
    response = redirect("/")
    response.set_cookie(
        COOKIE, secret, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response


@login_pages.post("/logout")
async def log_out(request: Request, _caller: Annotated[Caller, Depends(require())]) -> Response:
    """Delete the key from the browser."""
    await fields_of(request)
    response = redirect("/login" if access_of(request).required else "/")
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response
