"""The processes of compose.yaml with its settings, without Docker: read-only root, another user, no new privileges."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import text

from data.store import Store
from tests.deployment import ROOT, image_environment, services, substituted
from tests.scale.postgresql import Server, free_port
from tests.scale.processes import until

pytestmark = pytest.mark.scale

DATA = "/mnt"
"""Where the home is mounted, in place of /data."""
# As docker does it: a mount namespace with a read-only root, an empty /tmp, and one folder to write. $2 is the prefix
# of the interpreter and $3 the checkout: the user must reach them even in root's own folder, or in /tmp.
SANDBOX = (
    'case "$2" in /root/*) mount --bind "$2" /media && mount -t tmpfs -o mode=0755 tmpfs /root && mkdir -p "$2" '
    '&& mount --bind /media "$2" ;; esac; case "$3" in /tmp/*) mount --bind "$3" /srv ;; esac; '
    'mount --bind "$1" /mnt && mount -o remount,bind,ro / '
    "&& mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs /tmp && cd /tmp || exit 1; "
    'case "$3" in /tmp/*) mkdir -p "$3" && mount --bind /srv "$3" ;; esac; shift 3; '
    'exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all "$@"'
)


class Container:
    """Starts commands as a service of compose.yaml runs them. folder: the volume."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        given = {
            name: substituted(str(value), POSTGRES_PASSWORD="unused")
            for name, value in services()["api"]["environment"].items()
        }
        image = {**image_environment(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        own = {"PLUMBLINE_HOME": DATA, "PLUMBLINE_DATABASE": database, "OMP_NUM_THREADS": "1"}
        self.environment = {**image, **given, **own, "PYTHONPATH": str(ROOT)}

    def command(self, *words: str) -> list[str]:
        mounts = (str(self._folder), sys.base_prefix, str(ROOT))
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", SANDBOX, "sh", *mounts, *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*words), env=self.environment, text=True, capture_output=True)

    @contextmanager
    def service(self, name: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
        """A service's own command; only its port differs."""
        words = [f"--port={port}" if word.startswith("--port=") else word for word in services()[name]["command"]]
        process = subprocess.Popen(self.command(sys.executable, "-P", "-m", "app.cli", *words), env=self.environment)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def healthy(self, name: str, process: subprocess.Popen[bytes], port: int) -> bool:
        """Whether the service's own health check passes, run in its namespace."""
        assert process.poll() is None, f"{name} ended with {process.returncode}"
        kind, *words = services()[name]["healthcheck"]["test"]
        words = [word.replace(":8000/", f":{port}/") for word in words]
        inside = ["sh", "-c", words[0]] if kind == "CMD-SHELL" else [sys.executable, *words[1:]]
        entered = ["nsenter", "--target", str(process.pid), "--mount", *inside]
        return subprocess.run(entered, env=self.environment, capture_output=True).returncode == 0


@pytest.fixture
def container(postgresql: Server, database_url: str, tmp_path: Path) -> Container:
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces need root here")
    folder = tmp_path / "volume"
    folder.mkdir(mode=0o700)
    os.chown(folder, 10001, 10001)
    return Container(folder, postgresql.tcp_url(database_url))


def test_the_sandbox_is_what_it_should_be(container: Container) -> None:
    done = container.run("sh", "-c", "id -u; touch /opt/x; touch /tmp/x /mnt/x && echo written")
    assert done.stdout.split() == ["10001", "written"]
    assert "Read-only file system" in done.stderr


def test_the_services_work_as_deployed(container: Container, database_url: str) -> None:
    made = container.run(sys.executable, "-P", "-m", "app.cli", "keys", "create", "admin", "--scope", "admin")
    assert made.returncode == 0, made.stderr
    (secret,) = [word for word in made.stdout.split() if word.startswith("pl-")]
    headers = {"Authorization": f"Bearer {secret}"}
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with container.service("api", port) as api, container.service("worker", port) as worker:
        until(lambda: container.healthy("worker", worker, port))
        until(lambda: container.healthy("api", api, port))
        assert httpx.get(url + "/v1/collections").status_code == 401
        assert httpx.post(url + "/v1/collections", json={"name": "house"}, headers=headers).status_code == 201
        files = [("files", ("tea.md", "# Tea\n\nTea is served at five o'clock in the long hall."))]
        job = httpx.post(url + "/v1/collections/house/documents", files=files, headers=headers)
        assert job.status_code == 202, job.text
        where = url + job.headers["location"]
        done = until(lambda: ended(httpx.get(where, headers=headers, timeout=60).json()))
        assert done["status"] == "succeeded", done["error"]
        asked = httpx.post(url + "/v1/query", json={"question": "When is tea served?"}, headers=headers, timeout=300)
        assert asked.status_code == 200, asked.text
        assert "five" in asked.json()["answers"][0]["text"]
        with Store.open(database_url) as store, store.read() as connection:
            assert connection.scalar(text("SELECT count(*) FROM generations")) == 1
        for process in (api, worker):
            process.terminate()
        assert (api.wait(timeout=120), worker.wait(timeout=120)) == (0, 0)


def ended(job: dict[str, object]) -> dict[str, object] | None:
    return job if job["status"] in ("succeeded", "failed") else None
