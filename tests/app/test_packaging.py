"""Contents of the distribution: type information of every package, and no training data."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "data", "evaluation", "generation", "model", "plumbline", "retrieval")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_every_shipped_package_is_type_checked() -> None:
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["packages"]
    assert sorted(checked) == sorted(PACKAGES)


@pytest.mark.drill
def test_the_wheel_has_the_sample_corpus_and_no_training_data(tmp_path: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    source = tmp_path / "source"
    for name in filter(None, tracked.split("\0")):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.hardlink_to(ROOT / name)
    subprocess.run(
        [sys.executable, "-c", "from setuptools.build_meta import build_wheel; build_wheel('..')"],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()

    shipped = {name.split("/")[2] for name in names if name.startswith("data/samples/")}
    assert shipped == {"DATACARD.md", "corpus", "questions_company.jsonl", "questions_world.jsonl"}
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    for name in tracked.split("\0"):
        if Path(name).suffix in {".j2", ".jinja", ".safetensors"} and name.split("/")[0] in PACKAGES:
            assert name in names
