"""Files that are large or hostile at full size: what they cost is bounded, and they are reported by name."""

from __future__ import annotations

import re
import resource
import tracemalloc
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from data.documents import Document
from data.loaders import Refused, load_documents
from data.parsing.limits import ParsingLimits
from retrieval.chunking.chunker import ChunkingParams, chunk_spans

pytestmark = pytest.mark.drill
GOOD = '{"id": "good", "text": "x"}\n'


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_line_of_two_gigabytes_needs_the_memory_of_the_longest_allowed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(GOOD.encode() if name == "a.jsonl" else b"id,text\ngood,x\n")
        for _ in range(2048):
            file.write(b"y" * (1 << 20))
        file.write(b"\n")
        file.write(GOOD.replace("good", "last").encode() if name == "a.jsonl" else b"last,x\n")
    tracemalloc.start()
    items = list(load_documents([path]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [item.id for item in items if isinstance(item, Document)] == ["good", "last"]
    [refused] = (item for item in items if isinstance(item, Refused))
    assert "longer than 50,000,000" in refused.reason
    assert peak < 250_000_000


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html", ".pdf", ".docx", ".zip", ".csv", ".json", ".jsonl"])
def test_sparse_files_of_four_gigabytes_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sparse{suffix}"
    with path.open("wb") as file:
        file.truncate(1 << 32)
    [item] = load_documents([path])
    assert isinstance(item, Refused)
    assert path.name in item.where


def test_bombs_at_full_size_leave_the_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("good")
    (tmp_path / "nested.html").write_text("<div>" * 2_000_000 + "deep")
    (tmp_path / "quadratic.html").write_text("<a " * 3_000_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(30):
            archive.writestr(f"{number}.txt", bytes([48 + number]) * 49_000_000)
    (tmp_path / "z.md").write_text("also good")
    items = list(load_documents([tmp_path], ParsingLimits(cpu_seconds=30)))
    ids = [item.id for item in items if isinstance(item, Document)]
    assert {"a.md", "nested.html", "z.md"} <= set(ids)
    refused = {Path(item.where).name for item in items if isinstance(item, Refused)}
    assert refused == {"quadratic.html", "bomb.zip"}


def test_a_line_of_fifty_megabytes_is_chunked_in_bounded_memory() -> None:
    def count(texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]

    text = "It rains (a lot) on the hill. " * 1_650_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spans = chunk_spans(text, count, ChunkingParams())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert spans[-1].end == len(text.rstrip())
    assert grown < 2_000_000  # KiB
