"""Which errors a user can act on, and what exit code or status they become."""

from __future__ import annotations

from data.errors import DataError
from evaluation.errors import EvaluationError
from generation.errors import GenerationError
from model.errors import ModelError
from retrieval.errors import RetrievalError

EXIT_OK, EXIT_ERROR, EXIT_USAGE, EXIT_THRESHOLD, EXIT_PARTIAL, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130


class AppError(Exception):
    """Something the application itself refuses; the message names what and what to do."""


class UsageError(AppError):
    """A value on the command line that cannot be meant; exit code 2."""


USER_ERRORS = (AppError, DataError, EvaluationError, GenerationError, ModelError, RetrievalError)
