"""Send HTTP requests to a server, with retries, rate limits and time limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from generation.errors import UnavailableError
from generation.remote.cancellation import RequestCancellation
from generation.remote.clock import Timing
from generation.remote.events import event_data, event_texts
from generation.remote.options import RemoteOptions
from generation.remote.refusals import BrokenStreamError, Refusal, RetryableError, refusal_error
from generation.remote.replies import error_message, json_object, short_line
from generation.remote.retries import backoff, retry_after_seconds

if TYPE_CHECKING:
    import httpx2

Result = TypeVar("Result")

_MOST_BYTES = 64 << 20  # of a reply, because an endless one must not fill the memory
_MOST_ERROR_BYTES = 64 << 10  # of a reply with an error status, or of a list of models


class Connection:
    """A thread-safe HTTP client for one server. Call ``close`` when done.

    Proxies and .netrc of the environment are ignored. Redirects are refused, since the key would be sent along.
    """

    def __init__(self, options: RemoteOptions, timing: Timing | None = None) -> None:
        import httpx2

        self._options = options
        self._timing = timing or Timing()
        self._where = f"the server at {options.shown_url}"
        self._not_before = 0.0
        self._lock = threading.Lock()
        self._closed = False
        headers = {"authorization": f"Bearer {options.api_key}"} if options.api_key else {}

        def client(kept: int) -> httpx2.Client:
            return httpx2.Client(
                # A user name and password in the URL become basic authentication, unless there is a key.
                base_url=(options.shown_url if options.api_key else options.url).rstrip("/") + "/",
                headers=headers,
                timeout=httpx2.Timeout(options.read_s, connect=options.connect_s, pool=None),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=kept),
                trust_env=False,
                follow_redirects=False,
            )

        self._client = client(options.parallel)
        # A cancellable request opens its own connection, which can be shut down without affecting others.
        self._single = client(0)

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._client.close()
        self._single.close()

    def post(
        self, body: dict[str, Any], total_s: float | None = None, cancellation: RequestCancellation | None = None
    ) -> dict[str, Any]:
        """Send a request and return the JSON object that the server answers with.

        total_s: time limit in seconds, if shorter than that of the options. cancellation: allows another thread to
        cancel. Raises UnavailableError with the server and what to do, ContextExceededError if the prompt is too long,
        LogprobsRefusedError if the server does not return log-probabilities, and GenerationError for other rejected
        requests.
        """
        deadline = self._deadline(total_s)

        def attempt() -> dict[str, Any]:
            with ExitStack() as stack:
                response = self._open(body, stack, deadline, cancellation)
                return json_object(self._read_body(response, deadline), self._where)

        return self._retried(attempt, deadline, cancellation)

    def events(
        self, body: dict[str, Any], total_s: float | None = None, cancellation: RequestCancellation | None = None
    ) -> Generator[dict[str, Any]]:
        """Send a request and yield the objects of the streamed answer as they arrive.

        A server that does not stream sends one object. Nothing is retried after the server has accepted the request.
        cancellation: allows another thread to cancel; a connection error or RequestCancelledError is then raised.
        Raises the errors of ``post``, and BrokenStreamError.
        """
        deadline = self._deadline(total_s)
        with ExitStack() as stack:
            response = self._retried(lambda: self._open(body, stack, deadline, cancellation), deadline, cancellation)
            if "text/event-stream" not in response.headers.get("content-type", ""):
                yield json_object(self._read_body(response, deadline), self._where)
                return
            try:
                pieces = self._pieces(response.iter_bytes(), deadline)
                for data in event_data(event_texts(pieces)):
                    if data.strip() == "[DONE]":
                        return
                    yield json_object(self._without_key(data), self._where)
            except RetryableError as error:
                raise BrokenStreamError(f"{self._where} broke off its answer: {error}. Try again") from error

    def models(self) -> tuple[str, ...]:
        """Return the names of the models that the server lists; empty if it lists none or an error occurs."""
        try:
            return tuple(short_line(str(model["id"]), 100) for model in self.listed_models())
        except Exception:  # the names are only needed for the message of another error
            return ()

    def listed_models(self) -> tuple[dict[str, Any], ...]:
        """Return the entries of the server's list of models; empty if it has no such list.

        Raises UnavailableError if the list is not JSON, and the errors of the HTTP client.
        """
        deadline = self._deadline(self._options.read_s)
        with self._client.stream("GET", "models") as response:
            if response.status_code != 200:
                return ()
            listed = json_object(self._read_body(response, deadline, _MOST_ERROR_BYTES), self._where).get("data")
        return tuple(model for model in listed or () if isinstance(model, dict))

    def _deadline(self, total_s: float | None) -> float:
        longest = self._options.total_s
        return self._timing.clock() + (longest if total_s is None else min(total_s, longest))

    def _open(
        self, body: dict[str, Any], stack: ExitStack, deadline: float, cancellation: RequestCancellation | None = None
    ) -> httpx2.Response:
        """Send a request and return a reply with status 200, whose body is not read yet.

        Raises RetryableError if another attempt may succeed, otherwise GenerationError.
        """
        import httpx2

        self._wait_for_limit(deadline, cancellation)
        if cancellation is not None:
            cancellation.check()
        content = json.dumps(body, allow_nan=False).encode()
        with ExitStack() as attempt:
            request = (self._client if cancellation is None else self._single).stream(
                "POST",
                self._options.endpoint,
                content=content,
                headers={"content-type": "application/json"},
                extensions=None if cancellation is None else {"trace": cancellation.trace},
            )
            try:
                response = attempt.enter_context(request)
            except httpx2.ConnectTimeout as error:
                raise RetryableError(
                    f"no connection within {self._options.connect_s:g} s; check that it is running"
                ) from error
            except httpx2.TimeoutException as error:
                raise RetryableError(f"no answer within {self._options.read_s:g} s") from error
            except httpx2.ConnectError as error:
                raise RetryableError(
                    f"it cannot be reached ({error}); check that it is running and that the URL is correct"
                ) from error
            except httpx2.TransportError as error:
                raise RetryableError(f"the connection broke ({error})") from error
            except httpx2.InvalidURL as error:
                raise UnavailableError(f"{self._where}: its URL is invalid ({error})") from error
            attempt.callback(self._close_if_orphaned, response)
            if response.status_code != 200:
                raise self._refusal(response, self._read_start(response, deadline))
            self._note_limit(response)
            stack.push(attempt.pop_all())
        return response

    def _close_if_orphaned(self, response: httpx2.Response) -> None:
        # A connection that is opened while its pool is closing is in no pool and would never be closed.
        if self._closed:
            response.extensions["network_stream"].close()

    def _refusal(self, response: httpx2.Response, body: bytes) -> Exception:
        try:
            fields = json_object(body, self._where)
        except UnavailableError:
            fields = {"message": body[:2000].decode("utf-8", errors="replace").strip() or response.reason_phrase}
        wait = retry_after_seconds(response.headers, self._timing.now())
        refusal = Refusal(response.status_code, self._without_key(error_message(fields)).rstrip("."), fields, wait)
        return refusal_error(refusal, self._options, self.models)

    def _without_key(self, text: str) -> str:
        key = self._options.api_key
        return text.replace(key, "***") if key else text

    def _read_body(self, response: httpx2.Response, deadline: float, most: int | None = None) -> bytes:
        """Read the body and redact the API key, which a server may repeat, so that it reaches no log and no answer."""
        body = b"".join(self._pieces(response.iter_bytes(), deadline, most))
        key = self._options.api_key
        return body.replace(key.encode(), b"***") if key else body

    def _read_start(self, response: httpx2.Response, deadline: float) -> bytes:
        """Read at most the first _MOST_ERROR_BYTES of a refusal's body."""
        chunks, size = [], 0
        for piece in self._pieces(response.iter_bytes(), deadline):
            chunks.append(piece)
            size += len(piece)
            if size >= _MOST_ERROR_BYTES:
                break
        return b"".join(chunks)

    def _pieces(self, pieces: Iterator[bytes], deadline: float, most: int | None = None) -> Iterator[bytes]:
        import httpx2

        size, most = 0, most or _MOST_BYTES
        try:
            for piece in pieces:
                size += len(piece)
                if size > most:
                    raise UnavailableError(
                        f"{self._where} sent more than {most >> 10:,} KiB, which is too long for a reply"
                    )
                if self._timing.clock() > deadline:
                    raise UnavailableError(f"{self._where} did not finish its answer in time: increase the time limit")
                yield piece
        except httpx2.TimeoutException as error:
            raise RetryableError(f"no data for {self._options.read_s:g} s") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise RetryableError(f"the connection broke ({error})") from error

    def _retried(
        self, attempt: Callable[[], Result], deadline: float, cancellation: RequestCancellation | None = None
    ) -> Result:
        options = self._options
        for number in range(1, options.retries + 2):
            try:
                return attempt()
            except RetryableError as error:
                if number > options.retries:
                    raise UnavailableError(
                        f"{self._where} failed {number} times, the last time: {error}. Try again later, or read its log"
                    ) from error
                pause = backoff(number, options.backoff_s, options.most_backoff_s, self._timing.uniform())
                pause = max(pause, error.wait or 0.0)
                if self._timing.clock() + pause > deadline:
                    raise UnavailableError(
                        f"{self._where} failed ({error}), and waiting {pause:.3g} s to try again would exceed the limit"
                    ) from error
            self._sleep(pause, cancellation)
        raise AssertionError("the last attempt returns or raises")

    def _note_limit(self, response: httpx2.Response) -> None:
        """Delay the next request if this reply says that a rate limit is used up."""
        wait = retry_after_seconds(response.headers, self._timing.now())
        if wait:
            with self._lock:
                self._not_before = max(self._not_before, self._timing.clock() + wait)

    def _sleep(self, seconds: float, cancellation: RequestCancellation | None) -> None:
        if cancellation is None:
            self._timing.sleep(seconds)
        else:
            cancellation.wait(seconds)

    def _wait_for_limit(self, deadline: float, cancellation: RequestCancellation | None = None) -> None:
        with self._lock:
            pause = self._not_before - self._timing.clock()
        if pause <= 0:
            return
        if self._timing.clock() + pause > deadline:
            raise UnavailableError(f"{self._where} accepts no request for {pause:.3g} s: its rate limit is used up")
        self._sleep(pause, cancellation)
