"""Index folders are untrusted: devices, pipes, links and files of unexpected sizes are neither read nor hashed."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.plain_file import open_plain, read_plain_text
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.manifest import describe_file
from retrieval.saved_search import saved_search, settings_path
from retrieval.upkeep.repairing import repair_collection
from retrieval.upkeep.verifying import verify_collection


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to(path.parent / "texts.npy")


def loop(path: Path) -> None:
    path.symlink_to(path)


def folder(path: Path) -> None:
    path.mkdir()


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def listening(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


KINDS = [zeros, pipe, link, loop, folder, sparse, listening]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["manifest.json", "vectors.faiss", "chunks.npy", "documents.json", "bm25_words.json"])
def test_it_is_named_and_repaired(
    store: Store, home: Path, encoder: Any, indexed: Path, kind: Callable[[Path], None], name: str
) -> None:
    full = verify_collection(store, home, "c")
    path = indexed / name
    path.unlink()
    kind(path)
    with pytest.raises(RetrievalError, match=name):
        open_retriever(store, home, "c", encoder)
    assert any(name in str(problem) for problem in verify_collection(store, home, "c").problems)
    repaired = repair_collection(store, home, "c", encoder)
    assert repaired.after.problems == ()
    assert repaired.after.generation_hash == full.generation_hash


@pytest.mark.parametrize("kind", KINDS)
def test_other_folders_beside_it_do_no_harm(
    store: Store, home: Path, encoder: Any, indexed: Path, kind: Callable[[Path], None]
) -> None:
    other = indexed.with_name("0" * 64)
    other.mkdir()
    kind(other / "manifest.json")
    shutil.rmtree(indexed)
    assert repair_collection(store, home, "c", encoder).after.problems == ()


@pytest.mark.parametrize("kind", [k for k in KINDS if k is not link])
def test_the_saved_search_is_read_as_carefully(
    store: Store, home: Path, indexed: Path, kind: Callable[[Path], None]
) -> None:
    path = settings_path(home, "c")
    kind(path)
    with pytest.raises(RetrievalError, match=path.name):
        saved_search(home, "c")


def test_a_manifest_that_is_nested_too_deeply(store: Store, home: Path, encoder: Any, indexed: Path) -> None:
    (indexed / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(RetrievalError, match=r"manifest\.json"):
        open_retriever(store, home, "c", encoder)
    assert repair_collection(store, home, "c", encoder).after.problems == ()


def test_a_file_of_another_size_is_not_hashed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    assert describe_file(path, 4) == describe_file(path, 4)
    assert (describe_file(path, 4).bytes, describe_file(path, 4).sha256) == (3, "")
    assert len(describe_file(path, 3).sha256) == 64
    sparse(tmp_path / "large")
    assert describe_file(tmp_path / "large", 3).bytes == 1 << 42


@pytest.mark.parametrize("kind", KINDS)
def test_only_plain_files_of_a_bounded_size_are_opened(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    (tmp_path / "texts.npy").write_bytes(b"")
    kind(tmp_path / "x")
    with pytest.raises(OSError, match="x"):
        open_plain(tmp_path / "x", most=1000)
    (tmp_path / "plain").write_text(json.dumps({"é": 1}, ensure_ascii=False), encoding="utf-8")
    assert json.loads(read_plain_text(tmp_path / "plain", 1000)) == {"é": 1}
    with pytest.raises(OSError, match="at most 3"):
        read_plain_text(tmp_path / "plain", 3)
