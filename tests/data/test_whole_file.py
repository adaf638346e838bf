from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from data.atomic_write import atomic_write, naming_file


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("old")
    with pytest.raises(OSError, match=r"run\.trec") as caught, atomic_write(path) as part:
        part.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.errno == errno.ENOSPC
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])
    with atomic_write(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), list(tmp_path.iterdir())) == ("new", [path])


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    with atomic_write(tmp_path / "link") as part:
        part.write_text("text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "file").read_text() == "text"
    with atomic_write(Path(os.devnull)) as part:
        part.write_text("text")
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "none" / "file") as part:
        part.write_text("text")


def test_errors_get_a_name_and_keep_the_one_they_have(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="other") as caught, naming_file(tmp_path):
        raise OSError(errno.EROFS, "Read-only file system", "other")
    assert caught.value.filename == "other"
    with pytest.raises(OSError, match=r"cannot be written .*disk full"), naming_file(tmp_path / "a"):
        raise OSError("10 requested and 3 written")
