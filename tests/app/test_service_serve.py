"""Options that `plumbline serve` rejects before it loads models. The server itself: tests/drill/test_serve.py."""

from __future__ import annotations

import argparse
import signal
import socket
from pathlib import Path

import pytest

from app.accounts.keys import KeyStore
from app.commands import serve
from app.commands.serve import key_needed, listening_socket, own_hosts, url, worker_arguments
from app.console import Output
from app.errors import AppError, UsageError
from data.store import Store


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1"])
def test_other_machines_are_served_only_when_allowed(host: str) -> None:
    with pytest.raises(UsageError, match="API key"):
        listening_socket(host, 0, allow_remote=False)


def test_allowed() -> None:
    with listening_socket("0.0.0.0", 0, allow_remote=True) as listener:
        assert listener.getsockname()[1] > 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback(host: str) -> None:
    with listening_socket(host, 0, allow_remote=False) as listener:
        assert listener.getsockname()[1] > 0


def test_a_port_in_use_is_named() -> None:
    with listening_socket("127.0.0.1", 0, allow_remote=False) as first:
        port = first.getsockname()[1]
        with pytest.raises(AppError, match=f"127.0.0.1:{port}"):
            listening_socket("127.0.0.1", port, allow_remote=False)


def test_a_host_that_is_none() -> None:
    with pytest.raises(AppError, match="address"):
        listening_socket("x" * 300, 0, allow_remote=True)


def test_a_port_that_is_none_and_the_signal_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    arguments = argparse.Namespace(host="127.0.0.1", port=70_000, allow_remote=False)
    with pytest.raises(UsageError, match="70000"):
        serve.run(arguments, Output(as_json=False))
    assert signal.getsignal(signal.SIGTERM) == before


def arguments_of(home: Path, host: str, **given: bool) -> argparse.Namespace:
    flags = {"allow_remote": False, "require_key": False, **given}
    models = dict.fromkeys(("model", "model_context", "encoder", "device"))
    return argparse.Namespace(home=home, host=host, port=0, **flags, **models)


def test_other_machines_need_a_key_unless_told_otherwise(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--host 0\.0\.0\.0.*plumbline keys"):
        key_needed(arguments_of(tmp_path, "0.0.0.0"))
    with pytest.raises(UsageError, match="--require-key"):
        key_needed(arguments_of(tmp_path, "127.0.0.1", require_key=True))
    assert not key_needed(arguments_of(tmp_path, "0.0.0.0", allow_remote=True))
    assert not key_needed(arguments_of(tmp_path, "127.0.0.1"))
    with Store.open(f"sqlite:///{tmp_path}/plumbline.db") as store:
        KeyStore(store).create("alice", ["query"])
    assert key_needed(arguments_of(tmp_path, "0.0.0.0"))
    assert key_needed(arguments_of(tmp_path, "127.0.0.1", require_key=True))
    assert not key_needed(arguments_of(tmp_path, "127.0.0.1"))  # a key that is there does not lock this machine out


def test_the_worker_gets_the_servers_home_and_models(tmp_path: Path) -> None:
    arguments = arguments_of(tmp_path, "127.0.0.1")
    assert worker_arguments(arguments) == ["--home", str(tmp_path)]
    arguments.model_context = 99
    assert worker_arguments(arguments) == ["--home", str(tmp_path), "--model-context", "99"]


def test_addresses_are_written_as_urls() -> None:
    assert url("::1", 80) == "http://[::1]:80"
    assert url("localhost", 8000) == "http://localhost:8000"
    assert "[::1]" in own_hosts("::1")


def test_ipv6_loopback_where_the_machine_has_it() -> None:
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with listening_socket("::1", 0, allow_remote=False) as listener:
        assert listener.getsockname()[0] == "::1"
