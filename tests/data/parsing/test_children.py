from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from data.documents import Document
from data.errors import DataError
from data.loaders import Refused
from data.parsing.files import parse_file, read_unchanged
from data.parsing.frames import FrameError, item_from_json, item_to_json, packed, read_frame
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.parsing.pool import FileToParse, parse_files
from data.parsing.process import ParserProcess

Read = Callable[..., list[Document | Refused]]
ENDLESS = "<a " * 20_000  # the parser looks for the end of each tag in all the rest


@pytest.mark.serial
def test_time_costs_one_file_and_is_named(apart: Read) -> None:
    items = apart({"a.md": "good", "slow.html": ENDLESS, "z.md": "# T\nalso good"}, cpu_seconds=1)
    assert [item.id for item in items if isinstance(item, Document)] == ["a.md", "z.md"]
    [refused] = (item for item in items if isinstance(item, Refused))
    assert refused == Refused("slow.html", "parsing took more than 1 seconds of CPU time and was stopped")


def test_memory_costs_one_file_and_is_named(apart: Read) -> None:
    large = "[" + "0," * 20_000_000 + "0]"
    items = apart({"a.md": "good", "large.json": large, "z.md": "# T\nalso good"}, memory_bytes=200_000_000)
    assert [item.id for item in items if isinstance(item, Document)] == ["a.md", "z.md"]
    [refused] = (item for item in items if isinstance(item, Refused))
    assert refused == Refused("large.json", "it needs more than 200,000,000 bytes of memory to parse")


def origin(name: str) -> Origin:
    return Origin(name, name)


@pytest.fixture
def child() -> Iterator[ParserProcess]:
    process = ParserProcess(ParsingLimits(wall_seconds=0.5, cpu_seconds=1000))
    yield process
    process.close()


@pytest.mark.serial
def test_a_child_that_hangs_is_ended(child: ParserProcess, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    child.await_ready()
    os.kill(child.pid, signal.SIGSTOP)
    child.send_file(tmp_path / "a.md", origin("a.md"))
    [item] = child.items(origin("a.md"))
    assert item == Refused("a.md", "parsing produced nothing for 0.5 seconds and was stopped")
    assert not child.usable


def test_a_child_that_is_killed_is_replaced(tmp_path: Path) -> None:
    files = []
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(name)
        files.append(FileToParse(tmp_path / name, origin(name)))
    parsed = parse_files(files, ParsingLimits())
    first = next(parsed)
    children = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True).stdout.split()
    for pid in children:
        if b"data.parsing.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(int(pid), signal.SIGKILL)
    rest = [one.item for one in parsed]
    assert isinstance(first.item, Document)
    # It may have died before or after it could say that the first file was done.
    [refused] = [item for item in rest if isinstance(item, Refused)]
    assert "SIGKILL" in refused.reason
    assert isinstance(rest[-1], Document)
    assert rest[-1].id == "c.md"


def test_order_does_not_depend_on_workers_and_children_are_replaced_in_time(tmp_path: Path) -> None:
    files: list[FileToParse | Refused] = [Refused("x", "y")]
    for n in range(12):
        path = tmp_path / f"{n:02}{'.txt' if n % 4 == 0 else '.md'}"
        path.write_text(f"text {n}")
        files.append(FileToParse(path, origin(path.name)))
    limits = ParsingLimits(files_per_process=2)
    results = [[one.item for one in parse_files(files, limits, workers)] for workers in (1, 3)]
    assert results[0] == results[1]
    assert len(results[0]) == 13


def test_a_child_that_cannot_start_is_an_error_and_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("x")
    files = [FileToParse(tmp_path / "a.md", origin("a.md"))]
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(DataError, match="did not start"):
        list(parse_files(files, ParsingLimits()))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DataError, match="cannot be started"):
        list(parse_files(files, ParsingLimits()))


def test_no_child_outlives_its_parent(tmp_path: Path) -> None:
    (tmp_path / "slow.html").write_text(ENDLESS)
    program = (
        "import os, sys, pathlib; sys.path.insert(0, sys.argv[1])\n"
        "from data.parsing.process import ParserProcess; from data.parsing.limits import ParsingLimits\n"
        "from data.parsing.origin import Origin\n"
        "child = ParserProcess(ParsingLimits()); child.await_ready()\n"
        "child.send_file(pathlib.Path(sys.argv[2]), Origin('x', 'slow.html'))\n"
        "print(child.pid, flush=True); sys.stdin.read(); os._exit(0)\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parents[3]), str(tmp_path / "slow.html")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        descriptor = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended = select.select([descriptor], [], [], 60)[0]  # readable when the process has ended
    os.close(descriptor)
    assert ended


def test_the_child_has_no_environment_and_loads_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1]); import data.parsing.worker, data.parsing.file_kinds as k\n"
        "print([m for m in ('torch', 'numpy', 'sqlalchemy', 'pypdf', 'transformers') if m in sys.modules])"
    )
    command = [sys.executable, "-I", "-c", program, str(Path(__file__).parents[3])]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
    process = ParserProcess(ParsingLimits())
    try:
        assert Path(f"/proc/{process.pid}/environ").read_bytes() == b""
    finally:
        process.close()


def test_a_file_that_changes_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def parse(file: IO[bytes]) -> Iterator[Item]:
        yield Document("a", "", file.read().decode())
        with path.open("a") as more:
            more.write(" and after")

    assert list(read_unchanged(path, origin("a.txt"), parse, streamed=False)) == [
        Refused("a.txt", "the file changed while it was read: index it again")
    ]
    kept, refused = read_unchanged(path, origin("a.txt"), parse, streamed=True)
    assert isinstance(kept, Document)
    assert isinstance(refused, Refused)
    assert "the documents read so far are kept" in refused.reason


def test_a_stream_that_grows_is_said_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n')
    items = parse_file(path, origin("a.jsonl"), ParsingLimits())
    assert isinstance(next(items), NumberedDocument)
    with path.open("a") as more:
        more.write('{"id": 2, "text": "b"}\n')
    *_, last = items
    assert isinstance(last, Refused)
    assert "changed while it was read" in last.reason


@pytest.mark.parametrize("suffix", [".txt", ".pdf", ".html", ".zip", ".docx", ".md"])
def test_sparse_files_of_four_gigabytes_cost_nothing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    with path.open("wb") as file:
        file.truncate(1 << 32)
    limits = ParsingLimits(text_bytes=1000, file_bytes=1000)
    [item] = parse_file(path, origin(path.name), limits)
    assert isinstance(item, Refused)


def test_frames_take_nothing_else() -> None:
    import io

    document = NumberedDocument(Document("i", "t", "x", (("k", "v"),)), 3)
    assert item_from_json(item_to_json(document)) == document
    for broken in (b"\0\0", b"\0\0\0\5{}", b"\xff\xff\xff\xff", b"\0\0\0\1{", b"\0\0\0\2[]"):
        with pytest.raises(FrameError):
            read_frame(io.BytesIO(broken).read)
    assert read_frame(io.BytesIO(b"").read) is None
    assert read_frame(io.BytesIO(packed({"a": "é"})).read) == {"a": "é"}
    for value in ({}, {"document": [1, "", "x", [], {}]}, {"document": ["a", "", "", [], {}]}, {"refused": ["x"]}):
        with pytest.raises(FrameError):
            item_from_json(value)
    with pytest.raises(FrameError):
        item_from_json({"document": ["a", "", "x", [], {"headings": [[0, 9, 1]]}]})
