"""The Dockerfile and compose.yaml by the tools of others, and the wheel that the image is made of."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment import ROOT, build_context

pytestmark = pytest.mark.scale

RULES = "{extends: default, rules: {line-length: {max: 130}, document-start: disable, braces: {max-spaces-inside: 1}}}"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("hadolint", ["Dockerfile"]),
        ("yamllint", ["--strict", "-d", RULES, "compose.yaml"]),
        ("check-jsonschema", ["--builtin-schema", "vendor.compose-spec", "compose.yaml"]),
    ],
)
def test_a_tool_has_no_complaint(tool: str, arguments: list[str]) -> None:
    program = Path(sys.executable).parent / tool
    if not program.exists():
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"{tool} is not installed: run make test-scale, or pip install 'plumbline-rag[scale]'")
        program = Path(found)
    done = subprocess.run([str(program), *arguments], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_build_context_makes_a_wheel_that_runs(tmp_path: Path) -> None:
    """What the Dockerfile's ``pip install .`` does, without what the package depends on."""
    source, target = tmp_path / "source", tmp_path / "installed"
    for name in build_context():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*pip, "--target", str(target), str(source)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    code = "import app.cli, app.settings; print(app.cli.__file__); app.cli.main(['work', '--help'])"
    run = subprocess.run([sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(target)!r}); {code}"],
                         cwd=tmp_path, text=True, capture_output=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(str(target)), run.stdout[:300]
    assert "--alive-file" in run.stdout
    assert list((target / "model" / "pretrained").rglob("*.safetensors"))
    assert list((target / "data" / "revisions" / "versions").glob("v*.py"))
