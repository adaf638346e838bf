"""Verifying, repairing, exporting and importing collections."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select, text, update

from data.documents import Document
from data.outline import Heading, Outline
from data.schema import collections, documents, generation_documents, generations, vectors
from data.store import Store
from retrieval.collection_folder import collection_lock, generations_folder
from retrieval.collections import list_collections, open_retriever
from retrieval.errors import RetrievalError
from retrieval.indexer import index_documents
from retrieval.upkeep.exporting import export_collection
from retrieval.upkeep.importing import import_collection
from retrieval.upkeep.repairing import repair_collection
from retrieval.upkeep.verifying import verify_collection
from retrieval.vectors.params import DenseParams

QUERY = "machine m2x weighs"


@pytest.fixture
def indexed(store: Store, home: Path, encoder: Any, make_documents: Callable[[int], tuple[Document, ...]]) -> Path:
    """The generation's folder of the collection "c"."""
    outlined = Document("zz", "Last", "Head\n\nBody text.", (("k", "v"),), Outline((Heading(0, 4, 1),)))
    report = index_documents(store, home, "c", [*make_documents(7), outlined], encoder)
    return generations_folder(home, "c") / report.generation_hash


def answers(store: Store, home: Path, encoder: Any, name: str = "c") -> list[tuple[str, str, float]]:
    found = open_retriever(store, home, name, encoder).retrieve(QUERY, 20)
    return [(hit.chunk.id, hit.chunk.text, round(hit.score, 6)) for hit in found]


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
    index_documents(store, home, "c", make_documents(9), encoder, dense=dense)
    assert problems(store, home) == ""


DAMAGE: dict[str, tuple[Any, str]] = {
    "pointer": (update(collections).values(current_generation_id=None), "points at no published generation"),
    "status": (update(generations).values(status="retired"), "points at no published generation"),
    "folder": (update(generations).values(folder="elsewhere"), "names the folder elsewhere"),
    "hash": (update(generations).values(hash="0" * 64), "the row of 000000000000"),
    "manifest": (update(generations).values(manifest={"format": 2}), "is not a manifest"),
    "no JSON": (text("UPDATE generations SET manifest = '{\"format'"), "table generations is damaged"),
    "links": (delete(generation_documents).where(generation_documents.c.document_row == 3), "is missing from it"),
    "sha": (update(documents).where(documents.c.id == 3).values(sha256="0" * 64), "is missing from it"),
    "id": (update(documents).where(documents.c.id == 3).values(document_id="other"), "strange in it"),
    "vectors": (update(vectors).values(vector=b"x"), "stored vectors in the database are damaged"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_rows_are_set_right_from_the_folder(store: Store, home: Path, encoder: Any, indexed: Path, what: str) -> None:
    before = answers(store, home, encoder)
    damage, says = DAMAGE[what]
    with store.write() as connection:
        if what == "id":  # the row's hash no longer tells that it is the same document
            damage = damage.values(document_id="other")
        connection.execute(damage)
    assert says in problems(store, home)
    if what == "id":
        with pytest.raises(RetrievalError, match="lie nowhere else, the first of them 'doc-002'"):
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
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert path.name in problems(store, home)
        repaired = repair_collection(store, home, "c", encoder)
        assert repaired.after.problems == ()
        assert "the same generation" in repaired.done[0]
        assert answers(store, home, encoder) == before
    (indexed / "bm25_absent.npy").write_bytes(b"")
    assert "bm25_absent.npy is not of this index" in problems(store, home)
    with pytest.raises(RetrievalError, match="bm25_absent"):
        open_retriever(store, home, "c", encoder)


def test_what_lies_nowhere_else_is_named_and_nothing_is_touched(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    with store.write() as connection:
        connection.execute(update(documents).where(documents.c.document_id == "doc-004").values(text="forged"))
    assert "title or text of document 'doc-004'" in problems(store, home)
    files = {path.name: path.read_bytes() for path in indexed.iterdir()}
    with pytest.raises(RetrievalError, match=r"1 documents of 'c' are damaged.*'doc-004'.*nothing was changed"):
        repair_collection(store, home, "c", encoder)
    assert {path.name: path.read_bytes() for path in indexed.iterdir()} == files
    with pytest.raises(RetrievalError, match="is damaged and was not written to a file"):
        export_collection(store, home, "c", home / "c.tar")
    assert not list(home.glob("*c.tar*"))


def test_repair_wants_the_encoder_that_indexed(store: Store, home: Path, make_encoder: Any, indexed: Path) -> None:
    (indexed / "vectors.faiss").unlink()
    with pytest.raises(RetrievalError, match="indexed with another encoder"):
        repair_collection(store, home, "c", make_encoder(salt="other"))


def test_a_consistent_forgery_of_the_vectors_is_found_against_the_stored_ones(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    """Files and both manifests changed alike: the hashes fit, so only the contents tell."""
    from retrieval.manifest import describe_file
    from retrieval.vectors.building import build_flat, load_dense

    path = indexed / "vectors.faiss"
    kept = load_dense(path, path.stat().st_size).vectors(np.arange(8))
    for forged, says in ((kept[::-1], "not the one that is stored"), (kept * 2, "not of length 1")):
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


def test_moving_a_collection(tmp_path: Path, store: Store, home: Path, make_encoder: Any, indexed: Path) -> None:
    encoder = make_encoder(dimension=256)
    before = answers(store, home, encoder)
    file = tmp_path / "c.tar"
    moved = export_collection(store, home, "c", file)
    assert (moved.documents, moved.generation_hash, moved.bytes) == (8, indexed.name, file.stat().st_size)
    with pytest.raises(RetrievalError, match="exists already"):
        export_collection(store, home, "c", file)
    again = tmp_path / "again.tar"
    export_collection(store, home, "c", again)
    assert again.read_bytes() == file.read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    with Store.open(f"sqlite:///{tmp_path}/there/p.db") as there:
        taken = import_collection(there, tmp_path / "there", file)
        assert (taken.collection, taken.generation_hash) == ("c", indexed.name)
        assert answers(there, tmp_path / "there", encoder) == before
        assert verify_collection(there, tmp_path / "there", "c").problems == ()
        with pytest.raises(RetrievalError, match="there is a collection 'c' already"):
            import_collection(there, tmp_path / "there", file)
        import_collection(there, tmp_path / "there", file, name="d")
        assert [info.name for info in list_collections(there)] == ["c", "d"]
        with there.read() as connection:
            row = connection.execute(select(documents).where(documents.c.document_id == "zz")).mappings().first()
        assert row is not None
        assert (row["metadata"], row["outline"]) == ({"k": "v"}, {"headings": [[0, 4, 1]]})
        # The vectors came along: what did not change is not embedded again.
        encoder.encoded.clear()
        given = [Document("new", "", "A new text.")]
        assert index_documents(there, tmp_path / "there", "c", given, encoder).embedded == 1


def repacked(file: Path, target: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """The export with its members changed."""
    with tarfile.open(file) as tar:
        members = [(member, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]
    change(members)
    with tarfile.open(target, "w") as tar:
        for member, content in members:
            if member.isreg():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return target


def with_header(change: Callable[[dict[str, Any]], None]) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]:
    def changed(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        header = json.loads(members[0][1])
        change(header)
        members[0] = (members[0][0], json.dumps(header).encode())

    return changed


def renamed(number: int, name: str) -> Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]:
    def changed(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members[number][0].name = name

    return changed


def linked(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    members[2][0].type, members[2][0].linkname, members[2][0].size = tarfile.SYMTYPE, "/etc/passwd", 0


def flipped(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    member, content = members[3]
    members[3] = (member, content[:-1] + bytes([content[-1] ^ 1]))


def other_text(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    """A forged document with the header's hash of the documents set right: the document's own hash tells."""
    import hashlib

    content = members[1][1].replace(b"kilograms", b"kilometre")
    members[1] = (members[1][0], content)
    with_header(lambda h: h["documents"].update(sha256=hashlib.sha256(content).hexdigest()))(members)


FORGED: dict[str, tuple[Callable[[list[tuple[tarfile.TarInfo, bytes]]], None], str]] = {
    "climbing": (renamed(2, "../../outside"), "is not listed in its header"),
    "absolute": (renamed(2, "/tmp/outside"), "is not listed in its header"),
    "climbing inside": (renamed(2, "index/../../outside"), "is not listed in its header"),
    "listed climbing": (
        with_header(lambda h: h["manifest"]["files"][0].update(name="../outside")),
        "is no name of a file",
    ),
    "hash as a path": (with_header(lambda h: h["manifest"].update(hash="../../../outside")), "is no SHA-256"),
    "name as a path": (with_header(lambda h: h.update(name="../outside")), "cannot name a collection"),
    "no name": (with_header(lambda h: h.update(name=None)), "names no collection"),
    "link": (linked, "is no plain file"),
    "flip": (flipped, "has changed since it was written"),
    "text": (other_text, "is not what was exported"),
    "lacking": (lambda members: members.pop(4), "it lacks index/"),
    "twice": (lambda members: members.append(members[2]), "comes twice"),
    "format": (with_header(lambda h: h.update(format=99)), "has the format 99"),
    "parameters": (with_header(lambda h: h["manifest"]["params"]["bm25"].update(k1=2.0)), "the manifest of"),
    "first": (lambda members: members.insert(0, members.pop()), "does not begin with plumbline-collection.json"),
    "no header": (with_header(lambda h: h.clear()), "header of"),
    "counts": (with_header(lambda h: h["manifest"].update(chunks=3)), "the manifest of .* was changed"),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_exports_are_refused_by_name_and_leave_nothing(
    tmp_path: Path, store: Store, home: Path, encoder: Any, indexed: Path, what: str
) -> None:
    change, says = FORGED[what]
    export_collection(store, home, "c", tmp_path / "c.tar")
    forged = repacked(tmp_path / "c.tar", tmp_path / "forged.tar", change)
    there = tmp_path / "deep" / "er" / "there"
    with Store.open(f"sqlite:///{there}/p.db") as empty:
        with pytest.raises(RetrievalError, match=says):
            import_collection(empty, there, forged)
        assert list_collections(empty) == ()
        assert not list(there.rglob("*.faiss")) and not list(there.rglob("*.npy"))
        assert not list(tmp_path.rglob("outside"))
        import_collection(empty, there, tmp_path / "c.tar")  # and the name is free


def test_truncated_and_strange_files_are_refused(
    tmp_path: Path, store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    export_collection(store, home, "c", tmp_path / "c.tar")
    whole = (tmp_path / "c.tar").read_bytes()
    bad = tmp_path / "bad.tar"
    with Store.open(f"sqlite:///{tmp_path}/there/p.db") as there:
        for content in (b"", b"not a tar", whole[:100], whole[: len(whole) // 2], whole[:5000]):
            bad.write_bytes(content)
            with pytest.raises(RetrievalError, match=r"bad\.tar"):
                import_collection(there, tmp_path / "there", bad)
        with pytest.raises(OSError, match="No such file"):
            import_collection(there, tmp_path / "there", tmp_path / "none.tar")
        assert list_collections(there) == ()


def test_a_collection_that_is_being_written_is_neither_exported_nor_repaired(
    store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    with store.write() as connection:
        connection.execute(update(collections).values(current_generation_id=None))
    with collection_lock(home, "c"):
        for function in (
            lambda: export_collection(store, home, "c", home / "c.tar"),
            lambda: repair_collection(store, home, "c", encoder),
        ):
            with pytest.raises(RetrievalError, match=r"being written by process \d+ on .+ since 2"):
                function()
