"""Verification and repair of collections."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, text, update

from data.documents import Document
from data.schema import collections, documents, generation_documents, generations, vectors
from data.store import Store
from retrieval.collections import open_retriever
from retrieval.errors import RetrievalError
from retrieval.generations.collection_folder import collection_lock
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import index_documents
from retrieval.upkeep.exporting import export_collection
from retrieval.upkeep.repairing import repair_collection
from retrieval.upkeep.verifying import verify_collection
from retrieval.vectors.params import DenseParams
from tests.retrieval.collection_answers import answers


def problems(store: Store, home: Path) -> str:
    return "\n".join(map(str, verify_collection(store, home, "c").problems))


def test_a_whole_collection_verifies_and_needs_no_repair(store: Store, home: Path, encoder: Any, indexed: Path) -> None:
    verified = verify_collection(store, home, "c")
    assert verified.problems == ()
    assert (verified.documents, verified.generation_hash) == (8, indexed.name)
    assert verified.chunks == verified.vectors >= 8
    assert verified.files == len(list(indexed.iterdir())) - 1
    repaired = repair_collection(store, home, "c", encoder)
    assert (repaired.done, repaired.after) == ((), verified)
    for function in (lambda: verify_collection(store, home, "d"), lambda: repair_collection(store, home, "d", encoder)):
        with pytest.raises(RetrievalError, match="no collection 'd'"):
            function()


@pytest.mark.parametrize("dense", [DenseParams(quantisation="int8"), DenseParams(kind="hnsw")])
def test_approximate_indexes_verify_too(
    store: Store, home: Path, encoder: Any, make_documents: Callable[[int], tuple[Document, ...]], dense: DenseParams
) -> None:
    index_documents(store, home, "c", make_documents(9), encoder, params=IndexParams.for_new_index(dense=dense))
    assert problems(store, home) == ""


DAMAGE: dict[str, tuple[Any, str]] = {
    "pointer": (update(collections).values(current_generation_id=None), "does not refer to a published generation"),
    "status": (update(generations).values(status="retired"), "does not refer to a published generation"),
    "folder": (update(generations).values(folder="elsewhere"), "names the folder elsewhere"),
    "hash": (update(generations).values(hash="0" * 64), "its row to 000000000000"),
    "manifest": (update(generations).values(manifest={"format": 2}), "is not a manifest"),
    "no JSON": (text("UPDATE generations SET manifest = '{\"format'"), "table generations is damaged"),
    "links": (
        delete(generation_documents).where(generation_documents.c.document_row == 3),
        "the indexed version is missing",
    ),
    "sha": (update(documents).where(documents.c.id == 3).values(sha256="0" * 64), "the indexed version is missing"),
    "id": (
        update(documents).where(documents.c.id == 3).values(document_id="other"),
        "a version that was not indexed is linked",
    ),
    "vectors": (update(vectors).values(vector=b"x"), "stored vectors in the database are damaged"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_rows_are_set_right_from_the_folder(store: Store, home: Path, encoder: Any, indexed: Path, what: str) -> None:
    before = answers(store, home, encoder)
    damage, says = DAMAGE[what]
    with store.write() as connection:
        if what == "id":  # the row no longer identifies the same document
            damage = damage.values(document_id="other")
        connection.execute(damage)
    assert says in problems(store, home)
    if what == "id":
        with pytest.raises(RetrievalError, match="'doc-002'"):
            repair_collection(store, home, "c", encoder)
        return
    encoder.encoded.clear()
    repaired = repair_collection(store, home, "c", encoder)
    assert repaired.after.problems == ()
    assert repaired.done and encoder.encoded == []
    assert answers(store, home, encoder) == before


def test_files_are_built_again_from_the_rows(store: Store, home: Path, encoder: Any, indexed: Path) -> None:
    before = answers(store, home, encoder)
    for path in sorted(indexed.iterdir()):
        full = path.read_bytes()
        path.write_bytes(full[: len(full) // 2])
        assert path.name in problems(store, home)
        repaired = repair_collection(store, home, "c", encoder)
        assert repaired.after.problems == ()
        assert "the same generation" in repaired.done[0]
        assert answers(store, home, encoder) == before
    (indexed / "bm25_absent.npy").write_bytes(b"")
    assert "bm25_absent.npy does not belong to this index" in problems(store, home)
    with pytest.raises(RetrievalError, match="bm25_absent"):
        open_retriever(store, home, "c", encoder)


def test_what_lies_nowhere_else_is_named_and_nothing_is_touched(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    with store.write() as connection:
        connection.execute(update(documents).where(documents.c.document_id == "doc-004").values(text="forged"))
    assert "the content of document 'doc-004'" in problems(store, home)
    files = {path.name: path.read_bytes() for path in indexed.iterdir()}
    with pytest.raises(RetrievalError, match=r"1 documents of 'c'.*'doc-004'"):
        repair_collection(store, home, "c", encoder)
    assert {path.name: path.read_bytes() for path in indexed.iterdir()} == files
    with pytest.raises(RetrievalError, match="damaged"):
        export_collection(store, home, "c", home / "c.tar")
    assert not list(home.glob("*c.tar*"))


def test_repair_wants_the_encoder_that_indexed(store: Store, home: Path, make_encoder: Any, indexed: Path) -> None:
    (indexed / "vectors.faiss").unlink()
    with pytest.raises(RetrievalError, match="another encoder"):
        repair_collection(store, home, "c", make_encoder(salt="other"))


def test_a_consistent_forgery_of_the_vectors_is_found_against_the_stored_ones(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    """Files and both manifests are changed consistently. The hashes match, so only a check of the content finds it."""
    from retrieval.generations.manifest import describe_file
    from retrieval.vectors.building import build_flat, load_dense

    path = indexed / "vectors.faiss"
    kept = load_dense(path, path.stat().st_size).vectors(np.arange(8))
    for forged, says in ((kept[::-1], "differs from the vector stored"), (kept * 2, "not of length 1")):
        manifest = json.loads((indexed / "manifest.json").read_text())
        build_flat(np.ascontiguousarray(forged)).save(path)
        assert manifest["chunks"] == 8
        for entry in manifest["files"]:
            if entry["name"] == path.name:
                entry["bytes"], entry["sha256"] = path.stat().st_size, describe_file(path).sha256
        (indexed / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True))
        with store.write() as connection:
            connection.execute(update(generations).values(manifest=manifest))
        assert says in problems(store, home)


def test_a_collection_that_is_being_written_is_neither_exported_nor_repaired(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    with store.write() as connection:
        connection.execute(update(collections).values(current_generation_id=None))
    with collection_lock(store, home, "c"):
        for function in (
            lambda: export_collection(store, home, "c", home / "c.tar"),
            lambda: repair_collection(store, home, "c", encoder),
        ):
            with pytest.raises(RetrievalError, match=r"process \d+ on .+ since 2"):
                function()
