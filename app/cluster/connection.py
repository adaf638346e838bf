"""Connect to a Ray cluster, or start one on this machine, with authentication and without Ray's output."""

from __future__ import annotations

import importlib
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from app.cluster.worker import NodeFacts, differences, node_facts
from data.block_work import WorkerError

_ANSWER_SECONDS = 5.0
_CHECK_SECONDS = 120.0
_STORE_BYTES = 256 << 20
_TOKEN, _TOKEN_PATH, _TOKEN_FILE = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "~/.ray/auth_token"
_ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1",  # a worker without a share of a GPU sees none
}
_QUICK = {"RAY_gcs_rpc_server_connect_timeout_s": "3", "RAY_NUM_REDIS_GET_RETRIES": "2"}
"""Settings that shorten Ray's connection attempts, which otherwise last more than a minute."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A connected cluster. ray: the Ray module. close: leaves the cluster, and stops it if it was started here."""

    ray: Any
    close: Callable[[], None]


def connected(address: str | None, processors: int) -> Connection:
    """Join the cluster at ``address`` (HOST:PORT). If it is None, start one with ``processors`` on this machine.

    Sets Ray's environment variables in this process before Ray is imported: authentication by token, no usage
    statistics. Raises WorkerError if Ray is not installed, if the address does not answer or refuses the token, and if
    the cluster has other versions or no authentication.
    """
    if address is not None:
        check_address(address)
    os.environ.update(_ENVIRONMENT)
    if address is None:
        os.environ[_TOKEN] = _own_token()
    else:
        _check_token(address)
        os.environ.update(_QUICK)
    ray = _imported()
    if address is None:
        return _started(ray, processors)
    return _joined(ray, address)


def check_address(address: str) -> None:
    """Raise WorkerError if the address is not HOST:PORT, or if nothing answers there within seconds."""
    host, separator, port = address.rpartition(":")
    if "://" in address or not separator or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise WorkerError(
            f"the address {address!r} is not HOST:PORT of a Ray cluster's head node, such as 10.0.0.1:6379 (Ray's "
            "client port, ray://, is not supported: run this command on a node of the cluster)",
            parameter="address",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_SECONDS).close()
    except OSError as error:
        raise WorkerError(
            f"no Ray cluster answers at {address} ({error.strerror or error}): start it there (ray start --head), or "
            "check the address",
            parameter="address",
        ) from error


def _check_token(address: str) -> None:
    given = os.environ.get(_TOKEN) or os.environ.get(_TOKEN_PATH) or Path(_TOKEN_FILE).expanduser().is_file()
    if not given:
        raise WorkerError(
            f"there is no token for the Ray cluster at {address}: set {_TOKEN} or {_TOKEN_PATH}, or copy the cluster's "
            f"token (ray get-auth-token, on its head node) to {_TOKEN_FILE}"
        )


@lru_cache(maxsize=1)
def _own_token() -> str:
    """Return the token of all clusters that this process starts. Ray keeps the first token that it reads."""
    return secrets.token_hex(32)


def _imported() -> Any:
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        raise WorkerError("Ray is not installed: pip install 'plumbline-rag[ray]'") from error
    # Ray prints reports of lost workers to stdout, where results are written. It has no public setting for this.
    printing: Any = importlib.import_module("ray._private.worker")
    printing._worker_logs_enabled = False
    return ray


def _started(ray: Any, processors: int) -> Connection:
    folder = tempfile.mkdtemp(prefix="plumbline-ray-", dir="/tmp")

    def close() -> None:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)

    try:
        ray.init(
            num_cpus=processors,
            object_store_memory=_STORE_BYTES,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _node_ip_address="127.0.0.1",
            _temp_dir=folder,
        )
    except BaseException as error:
        close()
        if not isinstance(error, Exception):
            raise
        raise WorkerError(f"Ray cannot be started on this machine: {_first_line(error)}") from error
    return Connection(ray, close)


def _joined(ray: Any, address: str) -> Connection:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        _check_nodes(ray, address)
    except BaseException as error:
        ray.shutdown()
        if isinstance(error, WorkerError) or not isinstance(error, Exception):
            raise
        raise WorkerError(f"the Ray cluster at {address} cannot be used: {_why(error)}") from error
    return Connection(ray, ray.shutdown)


def _check_nodes(ray: Any, address: str) -> None:
    """Raise WorkerError if a node runs other versions, lacks Plumbline, or answers without a token."""
    here = node_facts()
    ask = ray.remote(num_cpus=0)(node_facts)
    strategy = importlib.import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    answers = [ask.options(scheduling_strategy=strategy(node["NodeID"], soft=False)).remote() for node in nodes]
    if not nodes:
        raise WorkerError(f"the Ray cluster at {address} has no node with processors: start workers (ray start)")
    for node, one in zip(nodes, answers, strict=True):
        where = f"the node {node['NodeManagerAddress']} of the Ray cluster at {address}"
        try:
            there: NodeFacts = ray.get(one, timeout=_CHECK_SECONDS)
        except Exception as error:  # Ray passes on any error of the node
            raise WorkerError(f"{where} cannot run Plumbline: {_why(error)}. Install the same version there") from error
        if wrong := differences(here, there):
            raise WorkerError(f"{where} runs other versions: {', '.join(wrong)}. Install the same on every node")
        if not there.token:
            raise WorkerError(
                f"{where} accepts work from anyone who reaches its ports: start Ray on every node with "
                "RAY_AUTH_MODE=token (docs/ray.md)"
            )


def _why(error: BaseException) -> str:
    """Return the reason for an error in one line. It may be in a cause, because Ray's own message may not name it."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__ or step.__context__
    for one in chain:
        if "Authentication" in type(one).__name__ or "authentication" in str(one).lower():
            return f"it refuses the token ({_TOKEN}, {_TOKEN_PATH} or {_TOKEN_FILE}), or needs another kind of token"
        if "ersion mismatch" in str(one):
            return " ".join(str(one).split())
    return _first_line(error)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
