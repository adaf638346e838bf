"""RemoteOptions: address, model, limits and retries of a server."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from generation.errors import GenerationError

Api = Literal["chat", "completions"]


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """Options of an OpenAI-compatible server (vLLM, SGLang, llama.cpp, a hosted one), validated on construction.

    url: base URL including the version, e.g. ``http://127.0.0.1:8080/v1``. model: name of the model on the server. api:
    "chat" uses the server's chat template, "completions" sends plain text. api_key: sent as a bearer token and never
    shown; None for none. context_length: size of the server's context in tokens. bytes_per_token: assumed number of
    UTF-8 bytes per token when chunks are fitted; English text has about 4, code and numbers 2 to 3. logprobs: whether
    to request log-probabilities. one_request: whether to request all samples of a prompt at once with the field ``n``,
    instead of one request per seed; samples then depend on their number. length_field: name of the field for the
    maximum number of new tokens.

    connect_s: time limit for a connection, in seconds. read_s: time limit between two pieces of a reply. total_s: time
    limit for a completion with all retries. retries: number of attempts after the first. backoff_s, most_backoff_s:
    first and longest wait before a retry, in seconds; a longer Retry-After is honoured within total_s. parallel:
    maximum number of concurrent requests. Raises GenerationError, which names the invalid value.
    """

    url: str
    model: str
    api: Api = "chat"
    api_key: str | None = None
    context_length: int = 4096
    bytes_per_token: float = 3.0
    logprobs: bool = True
    one_request: bool = False
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    connect_s: float = 10.0
    read_s: float = 120.0
    total_s: float = 600.0
    retries: int = 5
    backoff_s: float = 0.5
    most_backoff_s: float = 30.0
    parallel: int = 8

    def __post_init__(self) -> None:
        self._check_url()
        if not self.model.strip():
            raise GenerationError(f"no model is given for the server {self.shown_url}: give its name on the server")
        if self.api not in ("chat", "completions"):
            raise GenerationError(f"api is {self.api!r}: it must be chat or completions")
        key = self.api_key
        if key is not None and (not key or not key.isascii() or not key.isprintable() or " " in key):
            raise GenerationError(
                "the API key is empty or contains spaces, line ends or characters that are not ASCII: check it"
            )
        if self.context_length < 16:
            raise GenerationError(f"context_length is {self.context_length}: at least 16 tokens are needed")
        for name in ("bytes_per_token", "connect_s", "read_s", "total_s", "backoff_s", "most_backoff_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise GenerationError(f"{name} is {value}: it must be a positive number")
        if self.retries < 0:
            raise GenerationError(f"retries is {self.retries}: it must be 0 or more")
        if self.parallel < 1:
            raise GenerationError(f"parallel is {self.parallel}: it must be at least 1")

    def __repr__(self) -> str:
        """Return a representation without credentials, because options occur in logs and tracebacks."""
        return f"RemoteOptions(url={self.shown_url!r}, model={self.model!r}, api={self.api!r})"

    def _check_url(self) -> None:
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError as error:
            raise GenerationError(f"the server's URL cannot be read ({error}): give one like {_EXAMPLE}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise GenerationError(f"{self.shown_url!r} is not a server URL: give one like {_EXAMPLE}")
        if parts.query or parts.fragment:
            raise GenerationError(
                f"the server's URL {self.shown_url} has a query or a fragment: give one like {_EXAMPLE}"
            )

    @property
    def shown_url(self) -> str:
        """The URL without user name, password, query and fragment, for messages and fingerprints."""
        try:
            parts = urlsplit(self.url)
            place = parts.netloc.rpartition("@")[2]
            return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
        except ValueError:
            return "(unreadable)"

    @property
    def endpoint(self) -> str:
        """Path of the URL for completions, relative to ``url``."""
        return "chat/completions" if self.api == "chat" else "completions"


_EXAMPLE = "http://127.0.0.1:8080/v1"
