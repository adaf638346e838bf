"""uvicorn's HTTP/1.1 protocol with limits on request headers: seconds, bytes, and number.

uvicorn waits for headers without a timeout and stores any number of them. A client that sends a byte now and then could
hold its connection forever (Slowloris). A client that never ends a header line could fill the memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.service.http.errors import error_body
from app.service.observability.logs import LOGGER, log_event

HEADER_TIMEOUT_S = 20.0
MOST_HEADER_BYTES = 65_536
"""Maximum bytes of the path, the query string and all headers of one request."""
MOST_HEADERS = 100


class BoundedHttp(HttpToolsProtocol):
    """A connection with limits on request headers.

    Headers must arrive within ``header_timeout_s`` seconds after the connection was opened. On a kept-alive connection
    the time starts with their first byte; until then uvicorn's keep-alive timeout applies.
    """

    header_timeout_s = HEADER_TIMEOUT_S

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._header_bytes = 0
        self._header_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._headers_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        if self._between_requests():
            self._expect_headers()
        if self._header_timer is not None:
            self._header_bytes += len(data)
        if not self._refused:
            super().data_received(data)
        # The count includes body bytes of the same packet, so the limit applies only to incomplete headers.
        if self._header_timer is not None and self._header_bytes > MOST_HEADER_BYTES:
            self._refuse(431, f"the headers are longer than {MOST_HEADER_BYTES} bytes", "headers_too_large")

    def on_message_begin(self) -> None:
        """See httptools."""
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """See httptools."""
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools."""
        self._head_bytes += len(name) + len(value) + 4
        if len(self.headers) <= MOST_HEADERS and self._head_bytes <= MOST_HEADER_BYTES:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """See httptools."""
        self._headers_came()
        if len(self.headers) > MOST_HEADERS:
            self._refuse(431, f"there are more than {MOST_HEADERS} headers", "headers_too_large")
        elif self._head_bytes > MOST_HEADER_BYTES:
            self._refuse(431, f"the headers are longer than {MOST_HEADER_BYTES} bytes", "headers_too_large")
        hosts = sum(name == b"host" for name, _ in self.headers)
        if not self._refused and (hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1")):
            self._refuse(400, "a request needs one Host header (RFC 9112, 3.2)", "bad_request")
        if not self._refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        if not self._refused:
            super().on_message_complete()

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect_headers(self) -> None:
        if self._header_timer is None:
            self._header_bytes = 0
            self._header_timer = self.loop.call_later(self.header_timeout_s, self._late)

    def _headers_came(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _late(self) -> None:
        if self._header_bytes:
            self._refuse(408, f"the headers did not arrive within {self.header_timeout_s:g} seconds", "request_timeout")
        else:  # browsers open connections in advance, without a request
            self._headers_came()
            self.transport.close()

    def _refuse(self, status: int, message: str, code: str) -> None:
        """Send an error object and close the connection."""
        self._headers_came()
        self._refused = True
        if self.transport.is_closing():
            return
        body = json.dumps(error_body(status, message, code)).encode()
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
        log_event(
            logging.getLogger(LOGGER),
            "refused",
            f"connection refused with {status}: {message}",
            status=status,
            code=code,
        )
