"""Serve the REST API and the web pages on this machine.

POST /v1/query answers questions. /openapi.json describes the API. / is the web interface. Without API keys only this
machine is served. Other machines need a key (``plumbline keys create``), unless --allow-remote is given. Use
--require-key behind a reverse proxy, because its requests come from this machine. A separate process runs the jobs
(``plumbline work``). Ctrl-C or SIGTERM stops the server after the requests in progress.
"""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from ipaddress import ip_address, ip_network
from types import FrameType
from typing import Any, NamedTuple

from app.console import Output
from app.errors import EXIT_OK, AppError, UsageError
from app.service.http.sub_path import checked_root_path
from app.service.observability.logs import Format, formatter
from data.errors import DataError
from evaluation.audits.audit import check_audit_rate
from evaluation.errors import EvaluationError

# Seconds that a thread waits before it requests the GIL from the decoding thread. On two cores, a single streamed query
# took 122 ms with Python's default of 5 ms, and 114 to 117 ms with this value.
SWITCH_S = 0.0005
_BACKLOG = 128
_LONGEST_DRAIN_S = 3600


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model

    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port; 0: any free port (default 8000)")
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="serve other machines without keys; everybody who can reach the port has full access",
    )
    parser.add_argument(
        "--require-key", action="store_true", help="require a key for every request, including those of this machine"
    )
    parser.add_argument(
        "--proxy-headers",
        nargs="?",
        const="127.0.0.1",
        metavar="ADDRESSES",
        help="trust X-Forwarded-Proto and X-Forwarded-For from these addresses or networks, separated by commas "
        "(without a value: 127.0.0.1); the proxy must set both headers",
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="format of the log on stderr; json: one object per line",
    )
    parser.add_argument("--log-text", action="store_true", help="log questions and answers")
    parser.add_argument(
        "--drain-seconds",
        type=float,
        default=0.0,
        help="on SIGTERM, keep listening for at least this long while /readyz reports not ready (default 0: until "
        "running requests have ended)",
    )
    parser.add_argument(
        "--root-path",
        default="",
        metavar="PATH",
        help="URL path prefix of the service, such as /plumbline; a proxy may remove it from requests or not",
    )
    parser.add_argument(
        "--no-worker", action="store_true", help="start no worker; jobs wait for a separate plumbline work"
    )
    parser.add_argument(
        "--audit-rate",
        type=float,
        default=None,
        metavar="SHARE",
        help="share of queries that are drawn for audits, which people label (plumbline watch); default 0",
    )
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Listen, load the models, and serve until stopped."""
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port is {arguments.port}: it must be in 0..65535")
    if not 0 <= arguments.drain_seconds <= _LONGEST_DRAIN_S:
        raise UsageError(f"--drain-seconds is {arguments.drain_seconds}: it must be in 0..{_LONGEST_DRAIN_S}")
    trusted_proxies(arguments.proxy_headers)  # before models are loaded
    if arguments.audit_rate is not None:
        try:
            check_audit_rate(arguments.audit_rate)
        except EvaluationError as error:
            raise UsageError(f"--audit-rate: {error}") from error
    try:
        checked_root_path(arguments.root_path)
    except ValueError as error:
        raise UsageError(f"--root-path: {error}") from error
    needs_key = key_needed(arguments)
    allowed = arguments.allow_remote or needs_key
    with _terminated_quietly(), listening_socket(arguments.host, arguments.port, allowed) as listener:
        port = int(listener.getsockname()[1])
        output.info(f"plumbline: loading; will listen on {url(arguments.host, port)}")
        with logging_to_stderr(arguments.log_format):
            _serve(arguments, output, listener, needs_key)
    return EXIT_OK


def key_needed(arguments: argparse.Namespace) -> bool:
    """Return whether every request needs an API key. Raises UsageError if a key is needed but none exists."""
    from app.accounts.keys import KeyStore
    from app.commands.options import open_pipeline

    remote = not is_loopback(arguments.host, arguments.port)
    if not arguments.require_key and (not remote or arguments.allow_remote):
        return False
    with open_pipeline(arguments) as pipeline:
        if KeyStore(pipeline.store).any_active():
            return True
    if arguments.require_key:
        raise UsageError("--require-key: there is no API key yet; create one with plumbline keys create NAME")
    raise UsageError(
        f"--host {arguments.host}: other machines could reach this address, but there is no API key. Create "
        "one with plumbline keys create NAME, use 127.0.0.1, or give --allow-remote if everybody who "
        "can reach the port may read everything"
    )


def _serve(arguments: argparse.Namespace, output: Output, listener: socket.socket, needs_key: bool) -> None:
    from app.commands.options import open_pipeline
    from app.jobs.supervisor import WorkerProcess
    from app.service.application import create_app
    from app.service.server import GRACE_S, DrainingServer, server_config

    port = int(listener.getsockname()[1])
    hosts = None if arguments.allow_remote or needs_key else own_hosts(arguments.host)

    def accepting() -> None:
        output.info(f"plumbline: serving {url(arguments.host, port)} (Ctrl-C stops)")

    def store_is_there() -> bool:
        try:
            pipeline.store.check()
        except DataError:
            return False
        return True

    with open_pipeline(arguments) as pipeline:
        # Opened before serving, so that a missing model is an error of this command and not of a request.
        _ = (pipeline.store, pipeline.encoder, pipeline.generator)
        app = create_app(
            pipeline,
            allowed_hosts=hosts,
            require_key=needs_key,
            log_text=arguments.log_text,
            root_path=arguments.root_path,
        )
        proxies = trusted_proxies(arguments.proxy_headers)
        trusted = {"proxy_headers": True, "forwarded_allow_ips": proxies} if proxies else {}
        config = server_config(app, **trusted)
        # uvicorn shuts down on SIGTERM and then raises the signal again. That second signal is ignored.
        for name in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(name) is not signal.SIG_IGN:
                signal.signal(name, _ignored)
        with nullcontext() if arguments.no_worker else WorkerProcess(worker_arguments(arguments), store_is_there):
            sys.setswitchinterval(SWITCH_S)
            server = DrainingServer(config, app, accepting, drain_s=arguments.drain_seconds, grace_s=GRACE_S)
            server.run(sockets=[listener])


def trusted_proxies(given: str | None) -> list[str]:
    """Return the addresses and networks of --proxy-headers. Raises UsageError for invalid ones."""
    addresses = [part.strip() for part in given.split(",")] if given is not None else []
    for part in addresses:
        try:
            ip_network(part)
        except ValueError as error:
            raise UsageError(
                f"--proxy-headers {part!r}: {error}; give addresses or networks, such as 10.0.0.5,10.1.0.0/16"
            ) from error
    return addresses


def worker_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments of a worker that uses the same home and the same models."""
    names = ("home", "model", "model_context", "precision", "encoder", "encoder_precision", "device")
    given = ((name, getattr(arguments, name, None)) for name in names)
    return [part for name, value in given if value is not None for part in (f"--{name.replace('_', '-')}", str(value))]


def listening_socket(host: str, port: int, allow_remote: bool) -> socket.socket:
    """Return a listening socket. Requests wait in its backlog until the server accepts them.

    Raises UsageError for a host that is not loopback, unless ``allow_remote``, and AppError if the address is not
    available.
    """
    addresses = _addresses(host, port)
    if not allow_remote and not is_loopback(host, port):
        raise UsageError(
            f"--host {host}: other machines could reach this address without an API key, and everybody who "
            "can reach the port could read every collection. Use 127.0.0.1, or give --allow-remote if that is "
            "intended"
        )
    family, kind, protocol, address = addresses[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # On Linux two sockets with SO_REUSEADDR can bind the same port until one of them listens. Listening now lets a
        # second server fail before it loads its models.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise AppError(f"cannot listen on {url(host, port)}: {error.strerror}. Choose another --port") from error
    return listener


def is_loopback(host: str, port: int) -> bool:
    """Return whether the host is a loopback address. Raises AppError for an unknown host."""
    return all(ip_address(str(entry.address[0]).partition("%")[0]).is_loopback for entry in _addresses(host, port))


class _Address(NamedTuple):
    family: socket.AddressFamily
    kind: socket.SocketKind
    protocol: int
    address: tuple[Any, ...]


def _addresses(host: str, port: int) -> list[_Address]:
    try:
        infos = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise AppError(f"--host {host}: no such address ({error})") from error
    return [_Address(family, kind, protocol, address) for family, kind, protocol, _, address in infos]


def url(host: str, port: int) -> str:
    """Return the URL for a browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def own_hosts(host: str) -> tuple[str, ...]:
    """Return the valid Host headers of a server that serves only this machine."""
    return ("localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host)


def _ignored(_signal: int, _frame: FrameType | None) -> None:
    return


@contextmanager
def _terminated_quietly() -> Iterator[None]:
    """End the command with exit code 0 on SIGTERM while models are loaded, as while serving."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(EXIT_OK)

    before: Any = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def logging_to_stderr(kind: Format = "text") -> Iterator[None]:
    """Log requests, errors and uvicorn's messages on stderr; in JSON format also the stages of every query."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(kind))
    levels = {"plumbline": logging.DEBUG if kind == "json" else logging.INFO, "uvicorn.error": logging.WARNING}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield
    finally:
        for name in levels:
            logging.getLogger(name).removeHandler(handler)
