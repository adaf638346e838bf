"""Invalid Ray options are rejected before a cluster is needed. Needs no Ray; tests/scale tests clusters."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from app.cli import main
from app.cluster.connection import check_address, connected
from app.cluster.executor import ClusterOptions
from data.block_work import WorkerError


@pytest.mark.parametrize("options", [["--address", "a:1"], ["--ray-workers", "2"], ["--gpus-per-worker", "0"]])
def test_an_option_of_ray_needs_the_engine(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "samples", "--collection", "s", *options]) == 2
    assert options[0] in capsys.readouterr().err


@pytest.mark.parametrize("address", ["ray://10.0.0.1:10001", "10.0.0.1", "host:", ":6379", "host:0", "host:x", "auto"])
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(WorkerError) as caught:
        check_address(address)
    assert repr(address) in str(caught.value) and caught.value.parameter == "address"


def test_an_address_that_does_not_answer_is_refused_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        check_address(address)  # something listens there
    started = time.monotonic()
    with pytest.raises(WorkerError) as caught:
        check_address(address)
    assert address in str(caught.value)
    assert time.monotonic() - started < 10
    monkeypatch.setattr("app.cluster.connection._ANSWER_SECONDS", 0.2)
    with pytest.raises(WorkerError, match=r"192\.0\.2\.77:6379"):  # an address that is nobody's (RFC 5737)
        check_address("192.0.2.77:6379")


def test_a_cluster_needs_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("RAY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("os.environ", dict(os.environ))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(WorkerError, match="RAY_AUTH_TOKEN"):
            connected(address, 2)


def test_without_ray_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr("os.environ", dict(os.environ))
    assert main(["index", "samples", "--collection", "s", "--engine", "ray"]) == 1
    assert "plumbline-rag[ray]" in capsys.readouterr().err


@pytest.mark.parametrize(("workers", "gpus"), [(0, 0.0), (-1, 0.0), (None, -0.1), (None, 1.5), (None, float("nan"))])
def test_numbers_that_make_no_sense_are_refused(workers: int | None, gpus: float) -> None:
    with pytest.raises(WorkerError):
        ClusterOptions(workers=workers, gpus=gpus)


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "--evidence", "x.txt", "A claim."],
        ["verify", "--pairs", "x.jsonl", "--facts", "facts.csv"],
        ["score", "x.jsonl", "--verifier", "reference"],
        ["score", "x.jsonl", "--judge", "openai:http://127.0.0.1:1#m"],
    ],
)
def test_only_what_a_cluster_can_share_is_sent_there(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--engine", "ray"]) == 2
    assert "--engine ray" in capsys.readouterr().err
