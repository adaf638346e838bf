"""``plumbline train`` with a folder that another run uses is refused before any file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import main
from model.training.folder_lock import exclusive_run


@pytest.mark.parametrize("what", ["verifier", "reader", "pretrain"])
def test_a_second_run_is_refused_and_the_folder_stays(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    command = ["train", what, "--data", str(tmp_path / "missing.jsonl"), "--output", str(folder)]
    with exclusive_run(folder):
        assert main(command) == 1
        err = "".join(capsys.readouterr().err.split())
        assert "".join(str(folder).split()) in err and "missing.jsonl" not in err
        assert folder.is_dir()
    assert main(command) == 1
    assert "missing.jsonl" in capsys.readouterr().err
    assert not folder.exists()
