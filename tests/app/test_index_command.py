from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main
from app.pipeline import Pipeline


@pytest.fixture
def command(
    tmp_path: Path,
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., int]:
    """Function that runs the command line in its own home with the session's encoder."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(
            "app.commands.options.open_pipeline", lambda _: make_pipeline(make_settings(tmp_path / "home"))
        )
        return main([*arguments, "--home", str(tmp_path / "home")])

    return run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("The harbour of Lagos opens at six. Ships wait outside.")
    (folder / "b.md").write_text("# Lamps\n\nThe lamp burns oil for nine hours.")
    return folder


def test_index_verify_repair_export_import(
    command: Callable[..., int], notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = ("index", str(notes), "--collection", "n", "--workers", "0")
    assert command(*index, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["documents"], report["index"], report["recall"]) == (2, "flat", None)
    assert command(*index, "--index", "sq8") == 0
    assert "vector index: flat-int8, recall" in capsys.readouterr().out
    assert command(*index) == 0
    assert command("collections", "verify", "n", "--json") == 0
    out = capsys.readouterr().out
    assert json.loads(out.splitlines()[-1])["ok"] is True
    assert command("collections", "export", "n", str(tmp_path / "n.tar")) == 0
    assert command("collections", "import", str(tmp_path / "n.tar"), "--name", "m") == 0
    assert command("collections", "import", str(tmp_path / "n.tar"), "--name", "m") == 1
    assert "'m'" in capsys.readouterr().err
    (folder,) = (tmp_path / "home/collections/m/generations").iterdir()
    (folder / "chunks.npy").unlink()
    assert command("collections", "verify", "m") == 1
    wrong = capsys.readouterr()
    assert "problem: file: " in wrong.out and "chunks.npy" in wrong.out
    assert "repair m" in wrong.err
    assert command("collections", "repair", "m") == 0
    assert "the same generation" in capsys.readouterr().out
    assert command("collections", "repair", "m") == 0
    assert "no problem found" in capsys.readouterr().out


def test_an_engine_without_an_address_names_the_variable(
    command: Callable[..., int], notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("index", str(notes), "--collection", "n", "--vectors", "pgvector") == 1
    assert "PLUMBLINE_PGVECTOR_URL" in capsys.readouterr().err
    assert command("index", str(notes), "--collection", "n", "--workers", "0", "--json") == 0
    assert json.loads(capsys.readouterr().out)["vectors"] == "local"
    assert command("collections", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["vectors"] == "local"


@pytest.mark.parametrize(
    "arguments",
    [
        ("collections", "verify"),
        ("collections", "export", "n"),
        ("collections", "verify", "n", "--name", "m"),
        ("index", "x", "--collection", "c", "--workers", "-1"),
        ("index", "x", "--collection", "c", "--limit", "0"),
        ("index", "x", "--collection", "c", "--chunk-tokens", "0"),
    ],
)
def test_wrong_usage_is_told(
    command: Callable[..., int], arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = command(*arguments)
    except SystemExit as left:  # the parser's own
        code = left.code
    assert code == 2
    assert "plumbline: " in capsys.readouterr().err


def test_watching_goes_on_after_a_failure_and_ends_with_130(
    command: Callable[..., int], notes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {path: path.read_text() for path in notes.iterdir()}

    def looks(paths: object, build: Callable[[], bool], clock: object, wait: object) -> None:
        """Replacement of ``follow`` that changes the files between builds instead of waiting."""
        assert build() is True
        for path in kept:
            path.unlink()
        assert build() is False
        for path, text in kept.items():
            path.write_text(text)
        assert build() is True
        raise KeyboardInterrupt

    monkeypatch.setattr("app.retrieval.watch.follow", looks)
    assert command("index", str(notes), "--collection", "w", "--workers", "0", "--watch") == 130
    output = capsys.readouterr()
    assert output.err.count("w is up to date; watching") == 2
    assert "'w'" in output.err
    assert output.out.count("generation ") == 1  # the third build found nothing changed


def test_databases_cannot_be_watched(command: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    source = "sql:sqlite:////nowhere.db SELECT id, text FROM t"
    assert command("index", source, "--collection", "w", "--watch") == 2
    assert "--watch" in capsys.readouterr().err


@pytest.mark.drill
def test_torch_is_loaded_by_the_encoders_process_only(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nThe kiosk opens at nine.\n")
    code = f"""
import sys
from app.cli import main
if __name__ == "__main__":
    arguments = [{str(tmp_path / "note.md")!r}, "--collection", "c", "--home", {str(tmp_path / "home")!r}]
    assert main(["index", *arguments]) == 0
    print("torch" in sys.modules)
"""
    (tmp_path / "script.py").write_text(code)
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=True)
    assert "1 documents, 1 chunks (1 embedded" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"
    assert "leaked" not in done.stderr  # what the process took is taken back when it ends
