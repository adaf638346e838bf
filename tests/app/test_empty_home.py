"""An empty name of the home: ignored in the environment, rejected as an option."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.cli import main
from app.settings import Settings


@pytest.mark.parametrize("name", ["HOME", "MODEL_CONTEXT", "DEVICE", "MAX_QUEUE", "ENCODER_PRECISION"])
def test_a_variable_set_to_nothing_counts_as_unset(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"PLUMBLINE_{name}", raising=False)
    unset = getattr(Settings(), name.lower())
    monkeypatch.setenv(f"PLUMBLINE_{name}", "")
    assert getattr(Settings(), name.lower()) == unset


def test_an_empty_home_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "owner"))
    monkeypatch.setenv("PLUMBLINE_HOME", "")
    assert Settings().home_folder == tmp_path / "owner" / ".plumbline"


@pytest.mark.parametrize("home", [" ", "\t", "\u200b"])
def test_a_blank_home_is_refused(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", home)
    with pytest.raises(ValidationError, match="home"):
        Settings()


def test_an_empty_home_option_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as error:
        main(["collections", "list", "--home", ""])
    assert error.value.code == 2
    assert "--home" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
