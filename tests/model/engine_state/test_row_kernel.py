"""The compiled kernel where nothing can be kept: a read-only place and a full disk cost seconds, not requests.

Compiling takes seconds, so what is compiled is a drill; how a failure is met is tested with other kernels.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

from model.engine_state import row_kernel

PROGRAM = """
import numpy as np
from model.engine_state.row_kernel import read_rows
keys = np.ones((3, 1, 4), np.float32)
query, ranges = np.ones((2, 1, 1, 4), np.float32), np.array([[0, 2], [1, 2]])
found = read_rows(query, keys, 7 * keys, ranges, np.arange(3), np.arange(2), 1)
assert (found == 7).all()
"""


def one_read() -> np.ndarray:
    keys = np.ones((3, 1, 8), np.float32)
    query = np.ones((2, 1, 1, 8), np.float32)
    return row_kernel.read_rows(
        query, keys, 5 * keys, np.array([[0, 2], [1, 2]]), np.array([0, 1, 2]), np.array([0, 1]), 1
    )


def fails(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_kernel_that_cannot_be_kept_is_compiled_for_this_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[bool] = []

    def compiled(*, kept: bool) -> Callable[..., None]:
        calls.append(kept)

        def kernel(*given: object) -> None:
            output = given[-1]
            assert isinstance(output, np.ndarray)
            output.fill(5)

        return kernel

    monkeypatch.setattr(row_kernel, "_kernel", fails)
    monkeypatch.setattr(row_kernel, "_unkept", None)
    monkeypatch.setattr(row_kernel, "_compiled", compiled)
    assert (one_read() == 5).all() and (one_read() == 5).all()
    assert calls == [False]
    assert len(caplog.records) == 1 and "No space left" in caplog.text


def test_an_error_of_the_kernel_compiled_for_this_process_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_kernel, "_kernel", fails)
    monkeypatch.setattr(row_kernel, "_unkept", fails)
    with pytest.raises(OSError, match="No space left"):
        one_read()


@pytest.mark.drill
def test_a_disk_that_is_full_when_the_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_kernel, "_kernel", fails)
    assert (one_read() == 5).all()
    assert row_kernel._kernel is not fails


@pytest.mark.drill
def test_where_no_folder_can_be_written(tmp_path: Path) -> None:
    """A copy of the package that numba finds no place for: neither beside it nor in a home."""
    package = tmp_path / "model" / "engine_state"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    shutil.copy(row_kernel.__file__, package)
    (package / "__pycache__").touch()  # a file: also root cannot make the folder
    nowhere = tmp_path / "home"
    nowhere.touch()
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment = {**ours, "HOME": str(nowhere), "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.drill
def test_what_was_kept_and_cannot_be_read(tmp_path: Path) -> None:
    """Kept files cut off, empty, or of something else: compiled again, with a word, and no request fails."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert run() == ""
    indexes, objects = (sorted(tmp_path.rglob(f"*.{ending}")) for ending in ("nbi", "nbc"))
    assert indexes and objects
    assert run() == ""
    kept = indexes[0].read_bytes()
    for damaged in (kept[: len(kept) // 2], b"", b"something else"):
        indexes[0].write_bytes(damaged)
        assert "compiled for this process" in run()
    indexes[0].write_bytes(kept)
    objects[0].write_bytes(objects[0].read_bytes()[:100])
    assert "compiled for this process" in run()


@pytest.mark.drill
def test_what_is_wrong_with_the_call_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_kernel, "_kernel", row_kernel._kernel)  # others go on with the kept one
    with pytest.raises(numba.TypingError):
        row_kernel.read_rows(np.ones((2, 1, 1, 8), np.float32), *(np.ones(3, np.float32),) * 2, *(np.arange(3),) * 3, 1)
    assert (one_read() == 5).all()


@pytest.mark.drill
def test_torch_keeps_its_number_of_threads() -> None:
    """numba's first call sets OpenMP's number for the calling thread, which torch's operators would take over."""
    program = """
import torch
torch.set_num_threads(1)
from model.decoder.config import DecoderConfig
from model.engine_state.arena import KeyValueArena
from model.engine_state.unshared_reads import prepare_unshared_reads
prepare_unshared_reads(KeyValueArena(DecoderConfig(31, 16, 2, 4, 2, 4, 24, 4096), 100_000, dtype=torch.float32))
assert torch.get_num_threads() == 1, torch.get_num_threads()
"""
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
