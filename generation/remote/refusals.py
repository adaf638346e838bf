"""Convert a server's refusal to the error to raise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generation.errors import ContextLengthError, GenerationError, UnavailableError
from generation.remote.options import RemoteOptions
from generation.remote.retries import RETRIED

_TOO_LONG = re.compile(
    r"context[ _]length|context[ _](size|window)|maximum (context|sequence|input)|too many tokens|"
    r"(prompt|input) (is )?too long|longer than the (model|maximum)|exceed\w* .{0,300}(tokens|n_ctx)",
    re.IGNORECASE,
)
_SEARCHED = 64 << 10  # characters


class ContextExceededError(ContextLengthError):
    """The server reports that prompt and answer exceed its context."""


class LogprobsRefusedError(GenerationError):
    """The server refuses a request for log-probabilities."""


class BrokenStreamError(UnavailableError):
    """The connection broke during a stream."""


class RetryableError(Exception):
    """A failed attempt that may succeed when retried. wait: seconds to wait; None if the server does not say."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply with a status other than 200.

    message: the server's message, on one line. fields: the parsed body. wait: seconds to wait before another attempt;
    None if the server does not say.
    """

    status: int
    message: str
    fields: Mapping[str, Any]
    wait: float | None


def refusal_error(refusal: Refusal, options: RemoteOptions, models: Callable[[], Sequence[str]]) -> Exception:
    """Return the error to raise, which is RetryableError if another attempt may succeed.

    models: function that returns the names of the models that the server lists.
    """
    status, message, where = refusal.status, refusal.message, f"the server at {options.shown_url}"
    text = json.dumps(refusal.fields)
    if status in (400, 413, 422) and _TOO_LONG.search(text[:_SEARCHED]):
        return ContextExceededError(f"{where} says that the prompt is too long ({status}): {message}")
    if status in (401, 403):
        key = "the API key" if options.api_key else "a request without an API key"
        return UnavailableError(f"{where} refused {key} ({status}): {message}. Give a valid API key")
    if status == 404 or (status == 400 and "model_not_found" in text):
        known = ", ".join(models()[:10])
        hint = f"it serves {known}" if known else "does the URL end in its version, such as /v1?"
        return UnavailableError(f"{where} does not know the model {options.model!r} ({status}): {message}; {hint}")
    if status in (400, 422, 500, 501) and "logprobs" in message:
        return LogprobsRefusedError(f"{where} refused log-probabilities ({status}): {message}")
    if "insufficient_quota" in text:
        return UnavailableError(f"{where} has no quota left for this key ({status}): {message}")
    if status in RETRIED:
        return RetryableError(f"it answered {status}: {message}", refusal.wait)
    if 300 <= status < 400:
        return UnavailableError(
            f"{where} answered with a redirect ({status}), which is not followed: give the URL that it leads to"
        )
    return GenerationError(f"{where} refused the request ({status}): {message}")
