"""Two runs into one folder: the second is refused at once, whatever became of the first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from model.errors import ModelError
from model.training.folder_lock import exclusive_run

HOLD = "import sys; from pathlib import Path; from model.training.folder_lock import exclusive_run\n" + (
    "with exclusive_run(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"
)


def test_a_second_run_is_refused_until_the_first_has_ended_however_it_ended(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        (folder / "kept").write_text("a checkpoint")
        with (
            pytest.raises(ModelError, match=r"runs.one"),
            exclusive_run(folder),
        ):
            pytest.fail("it was let in")
        first.kill()
    with exclusive_run(folder):
        assert [path.name for path in folder.iterdir()] == ["kept"]
    assert (folder / "kept").read_text() == "a checkpoint"


def test_a_folder_that_nothing_was_written_into_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with pytest.raises(KeyError), exclusive_run(folder):
        assert folder.is_dir()
        raise KeyError("bad data")
    assert not folder.exists()
    folder.mkdir()
    with exclusive_run(folder):
        pass
    assert folder.is_dir()


def test_a_file_in_the_folder_s_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ModelError, match=r"file cannot be written to \(.*\): give an"),
        exclusive_run(tmp_path / "file"),
    ):
        pytest.fail("it was let in")
