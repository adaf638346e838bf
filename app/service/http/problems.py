"""Map internal errors to messages for clients, which name the component and what to do.

Files and paths appear only in the log.
"""

from __future__ import annotations

import errno
import logging
from typing import NoReturn

from sqlalchemy.exc import OperationalError

from app.errors import AppError
from app.service.http.errors import ApiError
from data.errors import DataError, StoreBusyError, StoreFullError
from evaluation.errors import EvaluationError
from generation.errors import (
    ContextLengthError,
    GenerationError,
    ModelOutputError,
    OutOfMemoryError,
    ParameterError,
    UnavailableError,
)
from model.errors import ModelError
from retrieval.errors import RetrievalError


def raise_problem(error: Exception, log: logging.Logger) -> NoReturn:
    """Raise the error that ``problem`` returns."""
    mapped = problem(error, log)
    if mapped is error:
        raise error
    raise mapped from error


def problem(error: Exception, log: logging.Logger) -> Exception:
    """Return the ApiError for an error of a known type; any other error is internal and is returned unchanged."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OperationalError):  # a database error that the store did not wrap: still 503, never 500
        log.error("cannot answer: the database failed: %s", error.orig)
        return _unavailable("database")
    if isinstance(error, StoreBusyError):
        return ApiError(503, "the database is busy: try again", code="database_busy", retry_after=1)
    if isinstance(error, StoreFullError):
        log.error("cannot work: %s", error)
        return disk_full()
    if isinstance(error, UnavailableError):
        log.error("cannot answer: %s", error)
        return ApiError(503, "the model's server is not available: try again", code="model_unavailable", retry_after=30)
    if isinstance(error, GenerationError):
        return _generation_problem(error, log)
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (DataError, "database"),
        (RetrievalError, "collection"),
        (EvaluationError, "verifier"),
        (AppError, "service"),
        (ModelError, "service"),
    )
    part = next((name for kind, name in kinds if isinstance(error, kind)), None)
    if part is None:
        return error
    log.error("cannot answer: %s", error)
    return _unavailable(part)


def _unavailable(part: str) -> ApiError:
    return ApiError(
        503,
        f"the {part} is not available; GET /readyz gives the reason",
        code=f"{part}_unavailable",
        retry_after=30,
    )


def _generation_problem(error: GenerationError, log: logging.Logger) -> ApiError:
    """Return the ApiError for an error of the generator.

    The code is ``context_length_exceeded`` only if the prompt is too long, because clients react to it by truncating
    the conversation.
    """
    if isinstance(error, ContextLengthError):
        return ApiError(422, f"question: {error}", code="context_length_exceeded", param="question")
    if isinstance(error, ParameterError):
        return ApiError(422, str(error), code="invalid_value", param=error.parameter)
    if isinstance(error, OutOfMemoryError):
        log.error("cannot answer: %s", error)
        return ApiError(
            503, "memory is short: try again when other requests are done", code="out_of_memory", retry_after=5
        )
    if isinstance(error, ModelOutputError):
        log.error("cannot answer: %s", error)
        return ApiError(500, "the model computed no usable answer; the server's log has details", code="model_failed")
    return ApiError(422, str(error), code="invalid_value")


def storage_problem(error: OSError, log: logging.Logger) -> ApiError:
    """Return a 503 error for a file that cannot be written or read; a full disk has its own message."""
    log.error("cannot work: %s", error.strerror)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full()
    return ApiError(503, "the server's files are not available", code="storage_unavailable", retry_after=30)


def disk_full() -> ApiError:
    """Return a 503 error for a full disk."""
    return ApiError(503, "the server's disk is full: nothing was stored", code="disk_full", retry_after=60)


def late() -> ApiError:
    """Return a 503 error for a deadline that passed before the answer was complete."""
    return ApiError(
        503,
        "the deadline passed before the answer was complete: try again, with more time or fewer tokens",
        code="deadline_exceeded",
        retry_after=5,
    )
