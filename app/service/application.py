"""Create the service's FastAPI app: routes, error handlers, limits, and the components that are opened at startup."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio.to_thread
from fastapi import FastAPI

from app.pipeline import Pipeline
from app.service.api.openapi import remove_fastapi_errors
from app.service.api.resource_limits import body_limits
from app.service.api.routes import router
from app.service.engine.answering import QueryService
from app.service.engine.gauges import register_gauges
from app.service.engine.health import Health
from app.service.http.access import Access
from app.service.http.body_budget import BodyBudget
from app.service.http.body_limit import BodyLimit
from app.service.http.early_refusal import EarlyRefusal
from app.service.http.errors import ApiError, add_error_handlers
from app.service.http.frame import RequestFrame
from app.service.http.sub_path import SubPath, checked_root_path
from app.service.observability.metrics import Metrics
from app.service.openai.routes import chat_router
from app.service.pages.ask import page_router
from app.service.routers import resource_routers
from app.settings import Settings

_ADMITTED = ("/v1/query", "/v1/chat/completions")
"""Paths that are subject to admission control."""


def create_app(
    source: Settings | Pipeline,
    *,
    allowed_hosts: Collection[str] | None = None,
    require_key: bool = False,
    log_text: bool = False,
    root_path: str = "",
) -> FastAPI:
    """Create the app of the service.

    The app's lifespan opens the store, the encoder and the generator. The service is not ready while one of them cannot
    be opened.

    source: settings, or a pipeline that its owner closes.
    allowed_hosts: valid Host headers; None allows any. Set it wherever no key protects the service, against DNS
    rebinding.
    require_key: whether every request needs an API key (see app.service.http.access).
    log_text: whether questions and answers are logged.
    root_path: URL path prefix such as ``/plumbline``. Raises ValueError if it is invalid.
    """
    prefix = checked_root_path(root_path)
    pipeline = source if isinstance(source, Pipeline) else Pipeline(source)
    owns_pipeline = pipeline is not source
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        health = Health(pipeline)
        service = QueryService(pipeline, health, metrics=metrics, spend=app.state.access.spend, log_text=log_text)
        register_gauges(metrics, service)
        app.state.answering = service
        await anyio.to_thread.run_sync(health.parts.open)
        try:
            yield
        finally:
            await service.close()
            if owns_pipeline:
                pipeline.close()

    app = FastAPI(
        title="Plumbline",
        summary="Answers questions from your own documents.",
        version=version("plumbline-rag"),
        lifespan=lifespan,
        docs_url=None,  # both of these pages load their scripts from a CDN
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": prefix}] if prefix else None,
    )
    app.state.access = Access(pipeline, required=require_key)
    add_error_handlers(app)
    app.include_router(router)
    app.include_router(chat_router)
    app.include_router(page_router)
    for extra_router in resource_routers:
        app.include_router(extra_router)
    remove_fastapi_errors(app)
    # The last one added is the outermost.
    default_limit = body_limit(pipeline.settings)
    budget = BodyBudget(pipeline.settings.max_bodies_mb * 1_000_000)
    app.add_middleware(BodyLimit, limit=default_limit, other=body_limits(default_limit), budget=budget)
    app.add_middleware(EarlyRefusal, paths=_ADMITTED, refusal=lambda: admission_refusal(app))
    app.add_middleware(RequestFrame, allowed_hosts=allowed_hosts, metrics=metrics, closing=lambda: closing(app))
    app.add_middleware(SubPath, root_path=prefix)
    return app


def drain(app: FastAPI) -> None:
    """Refuse new work and report not ready; running requests continue."""
    service = app.state.answering
    service.health.stopping = True
    service.admission.drain()


async def idle(app: FastAPI) -> None:
    """Wait until no query is running."""
    await app.state.answering.admission.idle()


def closing(app: FastAPI) -> bool:
    """Return whether ``drain`` was called."""
    service = getattr(app.state, "answering", None)
    return isinstance(service, QueryService) and service.health.stopping


def admission_refusal(app: FastAPI) -> ApiError | None:
    """Return the reason why no query can be admitted now; None if one can, or if the service has not started."""
    service = getattr(app.state, "answering", None)
    return service.admission.refusal() if isinstance(service, QueryService) else None


def body_limit(settings: Settings) -> int:
    r"""Return the size of the largest valid request in bytes.

    It allows 12 bytes per character of the question (two ``\uXXXX`` escapes), and the other fields.
    """
    return 12 * settings.max_question_characters + 65_536
