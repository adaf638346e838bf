"""Workers give the same items in the same order as the pool of a single machine."""

from __future__ import annotations

import os
import zipfile
from functools import partial
from pathlib import Path

import pytest

from data.documents import Document
from data.loaders import iter_documents
from data.parsing import distributed
from data.parsing.distributed import FileBytes, FileParser, parse_files_on
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.refused import Refused
from tests.block_executors import ThreadExecutor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "given"
    root.mkdir()
    for n in range(6):
        (root / f"{n}a.md").write_text(f"# Title {n}\n\nText {n} of a page.")
        (root / f"{n}b.txt").write_text(f"Plain text {n}.")
        (root / f"{n}c.html").write_text(f"<title>T{n}</title><p>A web page {n}.</p>")
    (root / "3d.pdf").write_bytes(b"%PDF-1.4 damaged")
    (root / "3e.md").write_bytes(b"")
    (root / "3f.exe").write_bytes(b"x")
    (root / "4d.csv").write_text("id,text\n1,first row\n2,second row\n")
    (root / "5d.jsonl").write_text('{"id": "j", "text": "a line"}\n{"no": 1}\n')
    os.mkfifo(root / "6.md")
    with zipfile.ZipFile(root / "7.zip", "w") as archive:
        archive.writestr("inner.md", "# Inside\n\nA member.")
    return root


@pytest.mark.parametrize("most", [32 << 20, 30])
def test_the_items_are_those_of_the_pool(folder: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "MAX_SENT_BYTES", most)  # 30: the web pages are too large to be sent
    executor = ThreadExecutor(2)
    parsers = executor.workers(partial(FileParser, ParsingLimits()), models=False)
    found = list(iter_documents([folder], parse=partial(parse_files_on, parsers)))
    assert found == list(iter_documents([folder]))
    assert sum(isinstance(item, Document) for item in found) == 6 * 3 + 2 + 1 + 1
    assert any(isinstance(item, Refused) and "6.md" in item.where for item in found)
    # Only .md, .html and .pdf files that are not empty are sent, but not text, tables, archives and pipes.
    assert parsers.blocks == (13 if most > 30 else 7)
    parsers.close()


def test_a_parser_replaces_its_dead_child_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    parser = FileParser(ParsingLimits(files_per_process=1))
    file = FileBytes("a.md", b"# One\n\nText.", Origin("given/a.md", "a.md"))
    first, second = parser(file), parser(file)
    assert first == second
    assert isinstance(first[0], Document) and (first[0].id, first[0].title) == ("a.md", "One")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    parser.close()
    assert list(tmp_path.iterdir()) == []
