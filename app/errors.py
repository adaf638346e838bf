"""Errors that a user can correct, and the exit codes of the command line."""

from __future__ import annotations

from collections.abc import Sequence

from data.block_work import WorkerError
from data.errors import DataError
from evaluation.errors import EvaluationError
from generation.errors import GenerationError
from model.errors import ModelError
from plumbline_errors import PlumblineError
from retrieval.errors import RetrievalError

EXIT_OK, EXIT_ERROR, EXIT_USAGE, EXIT_THRESHOLD, EXIT_PARTIAL, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130


class AppError(PlumblineError):
    """An error of the application itself. The message names the problem and what to do."""


class UsageError(AppError):
    """An invalid value on the command line; exit code 2."""


class UnnamedCollectionError(AppError):
    """No collection was named, and there is not exactly one. known: names of the existing collections."""

    def __init__(self, message: str, known: Sequence[str]) -> None:
        super().__init__(message, parameter="collection")
        self.known = tuple(known)

    def __reduce__(self) -> tuple[type[UnnamedCollectionError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.known)


USER_ERRORS = (AppError, DataError, EvaluationError, GenerationError, ModelError, RetrievalError, WorkerError)
