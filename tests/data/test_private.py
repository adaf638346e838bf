"""Files and folders that only their owner can access."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.private import make_private, make_private_folder, private_opener
from data.store import Store


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_folders_that_are_made_are_private_and_others_stay(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "a" / "b")
    make_private_folder(tmp_path / "a" / "b")
    assert [mode(tmp_path / name) for name in (".", "a", "a/b")] == [0o755, 0o700, 0o700]


def test_a_file_that_is_made_is_private(tmp_path: Path) -> None:
    with open(tmp_path / "f", "xb", opener=private_opener):
        pass
    assert mode(tmp_path / "f") == 0o600


def test_a_tree_is_closed_without_following_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("others'")
    outside.chmod(0o644)
    home = tmp_path / "home"
    (home / "in").mkdir(parents=True, mode=0o755)
    (home / "in" / "file").write_text("x")
    (home / "in" / "link").symlink_to(outside)
    (home / "loop").symlink_to(home)
    os.mkfifo(home / "pipe", 0o644)
    assert make_private(home) == 3
    assert [mode(home / name) for name in (".", "in", "in/file")] == [0o700, 0o700, 0o600]
    assert mode(outside) == 0o644
    assert make_private(home) == 0


def test_a_database_and_what_lies_beside_it_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.db"
    with Store.open(f"sqlite:///{path}") as store, store.write():
        found = {p.name: mode(p) for p in path.parent.iterdir()}
    assert mode(path.parent) == 0o700
    assert {"x.db", "x.db-wal", "x.db.lock"} <= set(found)
    assert set(found.values()) == {0o600}
