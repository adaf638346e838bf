"""Files are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import resource
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.checkpoints.files import sha256_of, write_atomic, write_json, write_tensors, write_together


def test_hash_of_a_file(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "a").write_bytes(content)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(content).hexdigest()


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomic(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # stands for a full disk
    try:
        with pytest.raises(OSError, match="File too large"):
            write_atomic(path, b"x" * 50_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_of_files_that_belong_together_all_are_written_or_none(tmp_path: Path) -> None:
    one, other = tmp_path / "a.bin", tmp_path / "b.json"
    write_together({one: b"old", other: b"old too"})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # the disk is full when the second one's turn comes
    try:
        with pytest.raises(OSError, match="File too large"):
            write_together({one: b"new", other: b"x" * 50_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (one.read_bytes(), other.read_bytes()) == (b"old", b"old too")
    assert sorted(tmp_path.iterdir()) == [one, other]
    write_together({one: b"new", other: b"new too"})
    assert (one.read_bytes(), other.read_bytes()) == (b"new", b"new too")


def test_json_and_tensors_come_back(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": 1, "a": [None, 0.1]})
    assert (tmp_path / "a.json").read_text() == '{\n  "a": [\n    null,\n    0.1\n  ],\n  "b": 1\n}\n'
    assert json.loads((tmp_path / "a.json").read_text())["a"][1] == 0.1
    stored = {"x": torch.arange(6.0).reshape(2, 3).T, "y": torch.ones(2, requires_grad=True).half()}
    write_tensors(tmp_path / "a.safetensors", stored)
    found = load_file(tmp_path / "a.safetensors")
    assert torch.equal(found["x"], stored["x"])
    assert found["y"].dtype == torch.float16
    assert len(list(tmp_path.iterdir())) == 2
