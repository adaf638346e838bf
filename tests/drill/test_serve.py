"""`plumbline serve` as a process of its own, driven with curl as a user would."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest

from app.pipeline import Pipeline
from app.settings import Settings
from data.documents import Document
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from tests.drill.serving import WAIT_S, command, serving

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]

QUESTION = "How long is the warranty of the Heron 4?"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home with one collection and an untrained reader, as environment variables."""
    folder = tmp_path_factory.mktemp("serve")
    save_prefix_decoder(warm_start(0), folder / "reader", {})
    settings = Settings(home=folder / "home", database="", encoder="", model=str(folder / "reader"), device="cpu")
    with Pipeline(settings) as pipeline:
        pipeline.index("notes", [Document("warranty", "Warranty", "The warranty of the Heron 4 lasts three years.")])
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")}
    home = {"PLUMBLINE_HOME": str(folder / "home"), "PLUMBLINE_MODEL": str(folder / "reader")}
    return {**ours, **home, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error"}


def test_a_server_as_curl_sees_it(environment: dict[str, str], tmp_path: Path) -> None:
    with serving(environment) as server:
        assert server.curl("/livez").json() == {"status": "live"}
        assert server.curl("/readyz").json()["collections"] == ["notes"]
        answer = server.query({"question": QUESTION, "n": 2, "temperature": 0.7})
        assert answer.status == 200
        assert answer.json()["sources"][0]["document_id"] == "warranty"
        assert server.query("{").json()["error"]["code"] == "invalid_json"
        unknown = server.query({"question": QUESTION, "collection": "nots"})
        assert (unknown.status, unknown.json()["error"]["code"]) == (404, "collection_not_found")
        assert server.curl("/v1/query").status == 405
        assert server.curl("/nowhere").status == 404
        large = tmp_path / "large"
        large.write_bytes(b" " * 5_000_000)
        chunked = ("--header", "Transfer-Encoding: chunked", "--header", "Content-Type: application/json")
        assert server.curl("/v1/query", *chunked, "--data-binary", f"@{large}").status == 413
        assert server.curl("/livez", "--header", "Host: rebound.example").status == 403
        assert "<form" in server.curl("/").body
        assert server.curl("/openapi.json").json()["openapi"]

        with ThreadPoolExecutor(20) as threads:
            replies = list(threads.map(lambda i: server.query({"question": f"{QUESTION} {i}", "seed": i}), range(20)))
        assert [reply.status for reply in replies] == [200] * 20
        assert [reply.json()["answers"][0]["seed"] for reply in replies] == list(range(20))
        assert len({reply.headers["x-request-id"] for reply in replies}) == 20

        assert server.stopped(signal.SIGTERM) == 0
        log = "".join(server.lines)
    assert replies[0].headers["x-request-id"] in log
    assert "Heron" not in log
    assert "Traceback" not in log


def test_a_full_queue_and_ctrl_c(environment: dict[str, str]) -> None:
    with serving({**environment, "PLUMBLINE_MAX_ACTIVE": "1", "PLUMBLINE_MAX_QUEUE": "1"}) as server:
        body = {"question": QUESTION, "n": 8, "temperature": 1.0, "max_tokens": 32}
        with ThreadPoolExecutor(20) as threads:
            replies = list(threads.map(lambda _: server.query(body), range(20)))
        statuses = {reply.status for reply in replies}
        assert statuses == {200, 429}
        assert all(int(reply.headers["retry-after"]) >= 1 for reply in replies if reply.status == 429)
        assert server.stopped(signal.SIGINT) == 130
        assert "Traceback" not in "".join(server.lines)


def test_what_is_in_progress_is_finished_before_it_stops(environment: dict[str, str]) -> None:
    with serving(environment) as server:
        connection = HTTPConnection(server.url.removeprefix("http://"), timeout=WAIT_S)
        body = json.dumps({"question": QUESTION, "n": 8, "temperature": 1.0, "max_tokens": 64})
        connection.request("POST", "/v1/query", body, {"Content-Type": "application/json"})
        # Connections are taken up in order: once a later one was answered, the first has been read.
        assert server.curl("/livez").status == 200
        server.process.send_signal(signal.SIGTERM)
        response = connection.getresponse()
        assert response.status == 200
        assert len(json.loads(response.read())["answers"]) == 8
        connection.close()
        assert server.process.wait(timeout=WAIT_S) == 0


def test_a_port_in_use_is_an_error_at_once(environment: dict[str, str]) -> None:
    with serving(environment) as server:
        port = server.url.rpartition(":")[2]
        done = subprocess.run(
            command("--port", port), env=environment, capture_output=True, timeout=WAIT_S, check=False, text=True
        )
    assert done.returncode == 1
    assert "Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--host", "0.0.0.0"), 2, "there is no API key"),
        (("--model", "nowhere"), 1, "no such folder"),
        (("--port", "99999"), 2, "99999"),
    ],
)
def test_what_it_refuses(environment: dict[str, str], arguments: tuple[str, ...], code: int, says: str) -> None:
    done = subprocess.run(
        command("--port", "0", *arguments),
        env=environment,
        capture_output=True,
        timeout=WAIT_S,
        check=False,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_sigterm_while_it_loads(environment: dict[str, str]) -> None:
    process = subprocess.Popen(command("--port", "0"), env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert b"loading" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    assert b"Traceback" not in rest
