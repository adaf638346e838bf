"""The home folder is accessible only to its owner. An existing one is restricted, with a warning."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.home.permissions import open_private_home
from app.settings import Settings
from tests.app.conftest import NOTES

Typed = Callable[..., SimpleNamespace]


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(home: Path) -> list[str]:
    return [
        str(path.relative_to(home.parent))
        for path in (home, *home.rglob("*"))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]


def test_what_is_made_is_private(make_pipeline: Callable[..., object], make_settings: object, tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    pipeline = make_pipeline(make_settings(home))  # type: ignore[operator]
    pipeline.index("notes", NOTES)  # type: ignore[attr-defined]
    assert open_to_others(tmp_path / "deep") == []


def test_what_was_made_before_is_repaired_with_a_line(home_copy: Path, caplog: pytest.LogCaptureFixture) -> None:
    for path in (home_copy, *home_copy.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with caplog.at_level(logging.WARNING):
        count = open_private_home(home_copy)
    assert count == 1 + len(list(home_copy.rglob("*")))
    assert open_to_others(home_copy) == []
    assert str(home_copy) in caplog.text
    caplog.clear()
    assert open_private_home(home_copy) == 0
    assert caplog.text == ""


def test_a_folder_that_holds_other_things_keeps_its_mode_and_them(home_copy: Path) -> None:
    home_copy.chmod(0o755)
    other = home_copy / "thesis.tex"
    other.write_text("mine")
    other.chmod(0o664)
    (home_copy / "plumbline.db").chmod(0o644)
    open_private_home(home_copy)
    assert open_to_others(home_copy) == ["home", "home/thesis.tex"]


def test_the_command_line_says_so(home_copy: Path, typed: Typed) -> None:
    (home_copy / "plumbline.db").chmod(0o644)
    assert typed("collections", "list", "--home", home_copy).code == 0
    assert open_to_others(home_copy) == []


def test_a_home_that_cannot_be_made_is_left_to_whoever_needs_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert open_private_home(file) == 0
    assert open_private_home(file / "home") == 0
    assert Settings(home=file).home_folder == file
