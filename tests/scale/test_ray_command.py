"""The command line against running clusters: their token, their versions, Ctrl-C, and quiet output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.scale.ray_clusters import TOKEN, clean_environment, ray_head

pytestmark = pytest.mark.scale

PLUMBLINE = [sys.executable, "-m", "app.cli"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ray_head(clean_environment(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)) as address:
        yield address


def plumbline(
    *arguments: str, home: Path, seconds: float = 240, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PLUMBLINE, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240,
        env=clean_environment(PLUMBLINE_HOME=str(home), HOME=str(home), **environment),
    )  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for n in range(20):
        (folder / f"{n}.md").write_text(f"# Page {n}\n\nThe page {n} is about the number {n}.\n")
    return folder


def test_a_running_cluster_does_the_work_and_stdout_has_only_the_result(
    address: str, corpus: Path, tmp_path: Path
) -> None:
    index = ("index", str(corpus), "--collection", "c", "--json")
    ray = plumbline(*index, "--engine", "ray", "--address", address, home=tmp_path / "a", RAY_AUTH_TOKEN=TOKEN)
    assert ray.returncode == 0, ray.stderr
    local = plumbline(*index, home=tmp_path / "b")
    assert json.loads(ray.stdout)["generation_hash"] == json.loads(local.stdout)["generation_hash"]
    assert "raylet" not in ray.stderr and "INFO" not in ray.stderr
    assert not (tmp_path / "a" / ".ray").exists()


def test_a_wrong_token_is_refused_with_its_variable(address: str, corpus: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    done = plumbline(
        "index", str(corpus), "--collection", "c", "--engine", "ray", "--address", address,
        home=tmp_path, RAY_AUTH_TOKEN="1" * 64,
    )  # fmt: skip
    assert done.returncode == 1
    assert "RAY_AUTH_TOKEN" in done.stderr and address in done.stderr
    assert time.monotonic() - started < 60
    assert done.stdout == ""


def test_a_cluster_without_a_token_or_with_another_version_is_refused(corpus: Path, tmp_path: Path) -> None:
    fake = tmp_path / "fake" / "numpy-1.0.dist-info"
    fake.mkdir(parents=True)
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    environment = clean_environment(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN, PYTHONPATH=str(fake.parent))
    index = ("index", str(corpus), "--collection", "c", "--engine", "ray", "--address")
    with ray_head(environment) as address:
        done = plumbline(*index, address, home=tmp_path, RAY_AUTH_TOKEN=TOKEN)
        assert done.returncode == 1
        assert "numpy 1.0" in done.stderr and address in done.stderr
    with ray_head(clean_environment(RAY_AUTH_MODE="disabled")) as address:
        done = plumbline(*index, address, home=tmp_path, RAY_AUTH_TOKEN=TOKEN)
        assert done.returncode == 1
        assert "RAY_AUTH_MODE=token" in done.stderr


def test_ctrl_c_stops_the_cluster_that_the_command_started(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PLUMBLINE, "index", "samples", "--collection", "s", "--engine", "ray", "--watch"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=clean_environment(PLUMBLINE_HOME=str(tmp_path), HOME=str(tmp_path)),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline().startswith("s: 70 documents")  # the cluster is up
    children = psutil.Process(process.pid).children(recursive=True)
    assert any("raylet" in child.name() for child in children)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
