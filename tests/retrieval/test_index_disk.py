"""If the disk is full or read-only at any write of the job, the old index answers and no files remain."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from data.documents import Document
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.generations.collection_folder import generations_folder
from retrieval.indexing.indexer import index_documents

Documents = Callable[[int], tuple[Document, ...]]

WRITES: tuple[tuple[Any, str], ...] = (
    (np, "save"),
    (faiss, "write_index"),
    (os, "pwrite"),
    (os, "fsync"),
    (os, "ftruncate"),
    (Path, "write_text"),
    (Path, "mkdir"),
    (Path, "replace"),
    (Path, "unlink"),
)


class Disk:
    """A disk whose n-th write fails. Counts the writes of a run."""

    def __init__(self, patch: pytest.MonkeyPatch, fails_at: int | None, code: int) -> None:
        self.writes: list[str] = []
        for place, name in WRITES:
            patch.setattr(place, name, self._counted(getattr(place, name), name, fails_at, code))

    def _counted(self, real: Any, name: str, fails_at: int | None, code: int) -> Any:
        def write(*arguments: Any, **options: Any) -> Any:
            self.writes.append(name)
            if len(self.writes) == fails_at:
                raise OSError(code, os.strerror(code))
            return real(*arguments, **options)

        return write


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_any_write_may_fail(
    tmp_path: Path, make_encoder: Any, make_documents: Documents, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    old_content, new_content = make_documents(3), make_documents(6)
    encoder = make_encoder()
    with Store.open(f"sqlite:///{tmp_path}/p.db") as store:
        old = index_documents(store, tmp_path, "c", old_content, encoder)
        with monkeypatch.context() as patch:
            calm = Disk(patch, None, code)
            wanted = index_documents(store, tmp_path, "c", new_content, encoder)
        index_documents(store, tmp_path, "c", old_content, encoder)
        assert {"save", "write_index", "pwrite", "fsync", "write_text", "replace"} <= set(calm.writes)
        published = 0
        for number in range(1, len(calm.writes) + 1):
            with monkeypatch.context() as patch:
                disk = Disk(patch, number, code)
                try:
                    report = index_documents(store, tmp_path, "c", new_content, encoder)
                except OSError as error:
                    assert error.errno == code
                    report = None
            assert disk.writes[number - 1] == calm.writes[number - 1]
            serving = open_retriever(store, tmp_path, "c", encoder)
            serves = old if report is None else wanted
            assert serving.generation_hash == serves.generation_hash, f"write {number}, {disk.writes[number - 1]}"
            hidden = [path.name for path in generations_folder(tmp_path, "c").iterdir() if path.name.startswith(".")]
            assert not hidden, f"write {number}, {disk.writes[number - 1]}"
            if report is not None:
                published += 1
                index_documents(store, tmp_path, "c", old_content, encoder)
        assert published <= 1
        assert index_documents(store, tmp_path, "c", new_content, encoder).generation_hash == wanted.generation_hash
