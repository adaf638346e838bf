"""Export and import of collections. Imported collections give equal results; changed or truncated files are refused."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from data.documents import Document
from data.schema import documents
from data.store import Store
from retrieval.collections import list_collections
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import index_documents
from retrieval.retrieval_params import RetrievalParams
from retrieval.saved_search import SavedSearch, save_search, saved_search
from retrieval.upkeep.exporting import export_collection
from retrieval.upkeep.importing import import_collection
from retrieval.upkeep.verifying import verify_collection
from tests.retrieval.collection_answers import answers


def test_moving_a_collection(tmp_path: Path, store: Store, home: Path, make_encoder: Any, indexed: Path) -> None:
    encoder = make_encoder(dimension=256)
    before = answers(store, home, encoder)
    file = tmp_path / "c.tar"
    moved = export_collection(store, home, "c", file)
    assert (moved.documents, moved.generation_hash, moved.bytes) == (8, indexed.name, file.stat().st_size)
    with pytest.raises(RetrievalError, match="already"):
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
        with pytest.raises(RetrievalError, match="'c' already"):
            import_collection(there, tmp_path / "there", file)
        import_collection(there, tmp_path / "there", file, name="d")
        assert [info.name for info in list_collections(there)] == ["c", "d"]
        with there.read() as connection:
            row = connection.execute(select(documents).where(documents.c.document_id == "zz")).mappings().first()
        assert row is not None
        assert (row["metadata"], row["outline"]) == ({"k": "v"}, {"headings": [[0, 4, 1]]})
        # The vectors were imported too, so unchanged texts are not embedded again.
        encoder.encoded.clear()
        given = [Document("new", "", "A new text.")]
        assert index_documents(there, tmp_path / "there", "c", given, encoder).embedded == 1


def test_how_it_is_searched_travels_too(tmp_path: Path, store: Store, home: Path, indexed: Path) -> None:
    tuned = SavedSearch(RetrievalParams(fusion="rrf", dense_weight=0.3), "nDCG@10 0.3 before, 0.4 after", "f" * 64)
    save_search(home, "c", tuned)
    export_collection(store, home, "c", tmp_path / "c.tar")
    with Store.open(f"sqlite:///{tmp_path}/there/p.db") as there:
        import_collection(there, tmp_path / "there", tmp_path / "c.tar", name="d")
        assert saved_search(tmp_path / "there", "d") == tuned
        assert verify_collection(there, tmp_path / "there", "d").problems == ()
        forged = repacked(tmp_path / "c.tar", tmp_path / "f.tar", with_header(lambda h: h["search"].update(fusion="x")))
        with pytest.raises(RetrievalError, match="search"):
            import_collection(there, tmp_path / "there", forged, name="e")
        assert [info.name for info in list_collections(there)] == ["d"]


def repacked(file: Path, target: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """Return a copy of the export with changed members."""
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
    """Change a document, and the header's hash of the documents, so that only the document's own hash differs."""
    import hashlib

    content = members[1][1].replace(b"kilograms", b"kilometre")
    members[1] = (members[1][0], content)
    with_header(lambda h: h["documents"].update(sha256=hashlib.sha256(content).hexdigest()))(members)


FORGED: dict[str, tuple[Callable[[list[tuple[tarfile.TarInfo, bytes]]], None], str]] = {
    "climbing": (renamed(2, "../../outside"), "listed"),
    "absolute": (renamed(2, "/tmp/outside"), "listed"),
    "climbing inside": (renamed(2, "index/../../outside"), "listed"),
    "listed climbing": (
        with_header(lambda h: h["manifest"]["files"][0].update(name="../outside")),
        "not a plain file name",
    ),
    "hash as a path": (with_header(lambda h: h["manifest"].update(hash="../../../outside")), "SHA-256"),
    "name as a path": (with_header(lambda h: h.update(name="../outside")), "cannot name"),
    "no name": (with_header(lambda h: h.update(name=None)), "name of its collection"),
    "link": (linked, "plain file"),
    "flip": (flipped, "changed"),
    "text": (other_text, "exported"),
    "lacking": (lambda members: members.pop(4), "lacks index/"),
    "twice": (lambda members: members.append(members[2]), "twice"),
    "format": (with_header(lambda h: h.update(format=99)), "format 99"),
    "parameters": (with_header(lambda h: h["manifest"]["params"]["bm25"].update(k1=2.0)), "manifest"),
    "first": (lambda members: members.insert(0, members.pop()), "plumbline-collection.json"),
    "no header": (with_header(lambda h: h.clear()), "header"),
    "counts": (with_header(lambda h: h["manifest"].update(chunks=3)), "manifest"),
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
        import_collection(empty, there, tmp_path / "c.tar")  # the name is unused


def test_truncated_and_strange_files_are_refused(
    tmp_path: Path, store: Store, home: Path, encoder: Any, indexed: Path
) -> None:
    export_collection(store, home, "c", tmp_path / "c.tar")
    full = (tmp_path / "c.tar").read_bytes()
    bad = tmp_path / "bad.tar"
    with Store.open(f"sqlite:///{tmp_path}/there/p.db") as there:
        for content in (b"", b"not a tar", full[:100], full[: len(full) // 2], full[:5000]):
            bad.write_bytes(content)
            with pytest.raises(RetrievalError, match=r"bad\.tar"):
                import_collection(there, tmp_path / "there", bad)
        with pytest.raises(OSError, match="No such file"):
            import_collection(there, tmp_path / "there", tmp_path / "none.tar")
        assert list_collections(there) == ()
