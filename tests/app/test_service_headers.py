"""Requests with slow, endless or missing headers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.service.http.http_protocol import MOST_HEADER_BYTES, BoundedHttp

pytestmark = pytest.mark.serial  # headers have a second, also on a busy machine

GOOD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


class Impatient(BoundedHttp):
    header_timeout_s = 0.05


class Hasty(BoundedHttp):
    header_timeout_s = 1.0  # time enough to send headers, on a busy machine too


class Patient(BoundedHttp):
    header_timeout_s = 3600.0


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body."""
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def connecting(protocol: type[BoundedHttp]) -> Iterator[socket.socket]:
    """Yield a connection to a server of ``echo``."""
    with serving(protocol) as address, socket.create_connection(address, timeout=240) as connection:
        yield connection


@contextmanager
def serving(protocol: type[BoundedHttp]) -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(echo, port=0, http=protocol, lifespan="off", log_config=None, timeout_keep_alive=3600)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive()
        yield server.servers[0].sockets[0].getsockname()
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def rest(connection: socket.socket) -> bytes:
    """Return all bytes until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("begun", [b"P", b"POST / HTTP/1.1\r\nHost: loc", b"\r\n"])
def test_headers_that_do_not_end_are_given_up(monkeypatch: pytest.MonkeyPatch, kept: bool, begun: bytes) -> None:
    with connecting(Patient if kept else Hasty) as connection:
        if kept:
            connection.sendall(GOOD + b"four")
            assert connection.recv(65536).endswith(b"four")
            monkeypatch.setattr(Patient, "header_timeout_s", 0.05)
        connection.sendall(begun)
        reply = rest(connection)
    assert reply.startswith(b"HTTP/1.1 408 ")
    assert b'"code": "request_timeout"' in reply


def test_a_connection_on_which_nothing_comes_is_closed() -> None:
    with connecting(Impatient) as connection:
        assert rest(connection) == b""


def test_a_body_has_its_own_time() -> None:
    with serving(Hasty) as address, socket.create_connection(address, timeout=240) as connection:
        connection.sendall(GOOD)
        with socket.create_connection(address, timeout=240) as later:
            assert rest(later) == b""  # the time for headers has passed
        connection.sendall(b"four")
        assert connection.recv(65536).endswith(b"four")


@pytest.mark.parametrize(
    "endless",
    [b"GET /" + b"x" * MOST_HEADER_BYTES, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * (MOST_HEADER_BYTES // 6)],
)
def test_headers_without_end_are_refused(endless: bytes) -> None:
    with connecting(Patient) as connection:
        connection.sendall(endless)
        reply = rest(connection)
    assert reply.startswith(b"HTTP/1.1 431 ")
    assert b'"code": "headers_too_large"' in reply


def test_headers_in_pieces_and_several_requests_on_a_connection() -> None:
    with connecting(Patient) as connection:
        for _ in range(3):
            for piece in (GOOD[:3], GOOD[3:40], GOOD[40:], b"fo", b"ur"):
                connection.sendall(piece)
            assert connection.recv(65536).endswith(b"four")
        connection.sendall(GOOD + b"four" + GOOD + b"five")  # pipelined
        found = b""
        while not found.endswith(b"five"):
            found += connection.recv(65536)
        assert found.count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize(
    "lines",
    [
        b"".join(b"X-%d: a\r\n" % n for n in range(120)),
        b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(80)),
        b"Cookie: " + b"a" * 70_000 + b"\r\n",
        b"X: a\r\n" * 5000,
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_too_many_headers_are_431(lines: bytes, at_once: bool) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n" + lines + b"\r\n"
    with connecting(Patient) as connection:
        with suppress(OSError):  # it may hang up before all of it was sent
            for begin in range(0, len(head), len(head) if at_once else 3000):
                connection.sendall(head[begin : begin + (len(head) if at_once else 3000)])
            if at_once:
                connection.sendall(b"four" + GOOD + b"four")
        reply = b""
        with suppress(OSError):
            reply = rest(connection)
    if len(lines) < 3000 and not at_once:
        assert reply.startswith(b"HTTP/1.1 431 ")
    assert b"200" not in reply[:20]
    if at_once:
        assert reply.count(b"HTTP/1.1 ") <= 1


def test_a_long_address_counts_as_headers() -> None:
    with connecting(Patient) as connection:
        connection.sendall(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with suppress(OSError):
            assert not rest(connection).startswith(b"HTTP/1.1 200")


def test_a_hundred_headers_are_taken() -> None:
    with connecting(Patient) as connection:
        many = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 600) for n in range(98))
        connection.sendall(GOOD[:-2] + many + b"\r\nfour")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nAccept: */*\r\n", b"400"),
        (b"GET / HTTP/1.0\r\nAccept: */*\r\n", b"200"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b"200"),
    ],
)
def test_a_request_has_one_host(head: bytes, status: bytes) -> None:
    with connecting(Patient) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        assert connection.recv(4096).split()[1] == status
