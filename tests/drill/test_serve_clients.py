"""The clients' scripts of tests/clients/ against a live server on loopback, with a key: Python, Node and curl."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from app.pipeline import Pipeline
from app.settings import Settings
from data.documents import Document
from tests.drill.serving import WAIT_S, Running, serving

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]

CLIENTS = Path(__file__).parent.parent / "clients"
QUESTION = "How long is the warranty of the Heron 4?"
NODE_PACKAGE = "openai@7.57.0"
DOCUMENTS = (
    Document("warranty", "Warranty", "The warranty of the Heron 4 lasts for three years. Batteries are not covered."),
    Document("office", "Office", "The office in Lisbon opens at nine. Its door code is changed every month."),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    """A server with the embedded reader that needs a key, and a key of it."""
    home = tmp_path_factory.mktemp("clients") / "home"
    with Pipeline(Settings(home=home, database="", encoder="", model="", device="cpu")) as pipeline:
        pipeline.index("handbook", DOCUMENTS)
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")}
    environment = {**ours, "PLUMBLINE_HOME": str(home), "PYTHONWARNINGS": "error"}
    made = subprocess.run(
        [sys.executable, "-m", "app.cli", "keys", "create", "drill", "--scope", "query", "--scope", "admin", "--json"],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    (key,) = re.findall(r"pl-[0-9a-f]{16}-[A-Za-z0-9_-]{43}", made.stdout)
    with serving(environment, "--require-key", "--no-worker") as running:
        yield running, key
        assert running.stopped(signal.SIGTERM) == 0
        assert "Traceback" not in "".join(running.lines)


def run(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * WAIT_S, check=False, cwd=folder)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAIL" not in done.stdout
    return done.stdout


def test_the_python_package(server: tuple[Running, str]) -> None:
    running, key = server
    url = f"{running.url}/v1"
    output = run(
        *(sys.executable, str(CLIENTS / "openai_client.py"), url),
        *("--model", "handbook", "--question", QUESTION, "--key", key),
    )
    print(output)
    assert output.count("ok  ") == 10


def test_curl(server: tuple[Running, str]) -> None:
    running, key = server
    output = run("sh", str(CLIENTS / "curl_client.sh"), running.url, "handbook", QUESTION, key)
    print(output)
    assert output.count("ok  ") == 12


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_node_package(server: tuple[Running, str], tmp_path: Path) -> None:
    running, key = server
    installed = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", NODE_PACKAGE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install openai here: {installed.stderr[-200:]}")
    script = tmp_path / "openai_client.mjs"
    shutil.copy(CLIENTS / "openai_client.mjs", script)
    output = run("node", str(script), f"{running.url}/v1", "handbook", QUESTION, key, folder=tmp_path)
    print(output)
    assert output.count("ok  ") == 7


def test_sigterm_says_not_ready_first_and_finishes_the_stream(server: tuple[Running, str]) -> None:
    running, key = server
    home = running.environment
    with serving(home, "--require-key", "--no-worker", "--drain-seconds", "3") as second:
        place = second.url.removeprefix("http://")
        connection = HTTPConnection(place, timeout=WAIT_S)
        body = json.dumps({"question": QUESTION, "n": 16, "temperature": 1.0, "stream": True, "verify": True})
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        connection.request("POST", "/v1/query", body, headers)
        response = connection.getresponse()
        assert response.readline() == b"event: sources\n"
        second.process.send_signal(signal.SIGTERM)
        ready = second.curl("/readyz")
        while ready.status == 200:  # the signal is on its way
            ready = second.curl("/readyz")
        assert ready.status == 503
        assert "stopping" in ready.body
        refused = second.curl("/v1/query", "--header", f"Authorization: Bearer {key}", *posted({"question": QUESTION}))
        assert (refused.status, refused.json()["error"]["code"]) == (503, "shutting_down")
        assert refused.headers["retry-after"]
        assert b"event: done" in response.read()
        connection.close()
        assert second.process.wait(timeout=WAIT_S) == 0


def posted(body: object) -> tuple[str, ...]:
    return ("--header", "Content-Type: application/json", "--data-binary", json.dumps(body))
