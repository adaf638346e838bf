"""Send export requests to a server by OTLP/HTTP in protobuf format (https://opentelemetry.io/docs/specs/otlp/)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from app.errors import AppError
from evaluation.exports.otlp import Signal
from evaluation.exports.otlp_protobuf import protobuf_bytes

if TYPE_CHECKING:
    import httpx2

HEADERS_VARIABLE: Final = "OTEL_EXPORTER_OTLP_HEADERS"
"""Environment variable with headers, for example authorization=Basic%20...; OpenTelemetry's standard name."""
_RETRIED: Final = frozenset({429, 502, 503, 504})
_ATTEMPTS: Final = 5
_LONGEST_WAIT_S: Final = 30.0
_MOST_REPLY_BYTES: Final = 64 << 10
_CONNECT_S, _READ_S = 10.0, 60.0


@dataclass(frozen=True, slots=True)
class OtlpServer:
    """An OTLP endpoint.

    url: URL of the endpoint, without credentials. headers: (name, value) pairs sent with every request.
    user: user name and password of basic authentication, None without.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    user: tuple[str, str] | None = None


def otlp_server(target: str, signal: Signal, headers: str = "") -> OtlpServer:
    """Parse the URL of an endpoint, or a base URL, to which /v1/traces or /v1/logs is appended.

    headers: ``name=value`` pairs joined by commas, values percent-encoded, as in HEADERS_VARIABLE. User name and
    password of the URL are used for basic authentication. Raises AppError for an invalid URL, an endpoint of the other
    signal, or invalid headers.
    """
    parts = urlsplit(target)
    try:
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise AppError(f"the URL of the OTLP server is invalid: {error}", parameter="export") from error
    if not host:
        raise AppError("the URL of the OTLP server has no host name", parameter="export")
    path = parts.path.rstrip("/")
    other = "/v1/logs" if signal == "traces" else "/v1/traces"
    if path.endswith(other):
        raise AppError(
            f"{path} is an endpoint for {other[4:]}, but this export sends {signal}: use otlp for traces and otlp-logs "
            "for logs",
            parameter="export",
        )
    if not path.endswith(f"/v1/{signal}"):
        path = f"{path}/v1/{signal}"
    location = parts.netloc.rpartition("@")[2]
    user = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return OtlpServer(urlunsplit((parts.scheme, location, path, parts.query, "")), _headers(headers), user)


def send_documents(
    server: OtlpServer,
    documents: Iterable[Mapping[str, Any]],
    signal: Signal,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Send every document and return the number of requests.

    If the server is busy (429, 502, 503, 504) or the connection breaks, a request is sent up to five times. Waits
    double from 0.5 s, or follow Retry-After (at most 30 s). Proxies of the environment are not used, and redirects are
    not followed. sleep: replaced in tests. Raises AppError if the server rejects a request or a part of it; the message
    names the server and the number of requests that it accepted before.
    """
    import httpx2

    sent = 0
    with httpx2.Client(
        headers=dict(server.headers),
        auth=server.user,
        timeout=httpx2.Timeout(_READ_S, connect=_CONNECT_S),
        trust_env=False,
        follow_redirects=False,
    ) as client:
        for document in documents:
            body = protobuf_bytes(dict(document), signal)
            _send(client, server, body, signal, sent, sleep)
            sent += 1
    return sent


def _send(
    client: httpx2.Client,
    server: OtlpServer,
    body: bytes,
    signal: Signal,
    sent: int,
    sleep: Callable[[float], None],
) -> None:
    import httpx2

    before = f" ({sent} requests were accepted before)" if sent else ""
    for attempt in range(1, _ATTEMPTS + 1):
        wait = 0.5 * 2 ** (attempt - 1)
        try:
            with client.stream(
                "POST", server.url, content=body, headers={"content-type": "application/x-protobuf"}
            ) as response:
                content = _limited_body(response)
                status, kind = response.status_code, response.headers.get("content-type", "")
                retry_after = response.headers.get("retry-after", "")
        except httpx2.HTTPError as error:
            if attempt == _ATTEMPTS:
                raise AppError(f"{server.url} cannot be reached{before}: {error or type(error).__name__}") from error
        else:
            if status in (200, 202, 204):
                _check_accepted(server, content, kind, signal, before)
                return
            if status not in _RETRIED or attempt == _ATTEMPTS:
                raise AppError(f"{server.url} refused the export with {status}{before}: {_advice(status, content)}")
            wait = min(float(retry_after), _LONGEST_WAIT_S) if retry_after.isdecimal() else wait
        sleep(wait)


def _limited_body(response: httpx2.Response) -> bytes:
    """Return the body of a response, cut to the size limit."""
    content = b""
    for piece in response.iter_bytes():
        content += piece
        if len(content) > _MOST_REPLY_BYTES:
            break
    return content[:_MOST_REPLY_BYTES]


def _check_accepted(server: OtlpServer, content: bytes, kind: str, signal: Signal, before: str) -> None:
    """Raise AppError if the server rejected a part of a request."""
    rejected, message = _rejection(content, kind, signal)
    if rejected:
        raise AppError(f"{server.url} rejected {rejected} of the {signal} of a request{before}: {message[:300]}")


def _rejection(content: bytes, kind: str, signal: Signal) -> tuple[int, str]:
    """Return (number of rejected records, message) of a response with a success status.

    (0, "") if the body cannot be parsed, because the status says that the request was accepted.
    """
    if kind.startswith("application/json"):
        try:
            partial = json.loads(content).get("partialSuccess") or {}
            name = "rejectedSpans" if signal == "traces" else "rejectedLogRecords"
            return int(partial.get(name) or 0), str(partial.get("errorMessage") or "")
        except (ValueError, AttributeError, RecursionError, TypeError):
            return 0, ""
    if not kind.startswith("application/x-protobuf"):
        return 0, ""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        if signal == "traces":
            spans = ExportTraceServiceResponse.FromString(content).partial_success
            return int(spans.rejected_spans), str(spans.error_message)
        records = ExportLogsServiceResponse.FromString(content).partial_success
        return int(records.rejected_log_records), str(records.error_message)
    except DecodeError:
        return 0, ""


def _advice(status: int, content: bytes) -> str:
    if status in (401, 403):
        return f"set the key of the server in {HEADERS_VARIABLE}, for example authorization=Bearer%20KEY"
    if status in (404, 405):
        return "there is no such endpoint; give the base URL of the server, without /v1/traces"
    if status == 415:
        return "the server does not read protobuf; export to a file, and let a collector send it"
    if 300 <= status < 400:
        return "redirects are not followed; give the URL to which the server redirects"
    text = " ".join(content.decode("utf-8", "replace").split())
    return text[:300] or "the server gave no reason"


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    headers = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, separator, value = item.partition("=")
        value = unquote(value.strip())
        if not separator or not name.strip() or not value.isprintable() or not value.isascii():
            raise AppError(
                f"{HEADERS_VARIABLE} is invalid: give name=value pairs joined by commas, with percent-encoded values"
            )
        headers.append((name.strip(), value))
    return tuple(headers)
