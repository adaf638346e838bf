import bz2
import tracemalloc
from pathlib import Path

import pytest

from data.jsonl import JsonLine, read_jsonl
from data.refused import Refused


@pytest.mark.parametrize("suffix", ["", ".bz2"])
def test_a_line_that_is_too_long_is_refused_without_holding_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.jsonl{suffix}"
    long = b'{"a": "' + b"x" * 20_000_000 + b'"}\n'
    content = b'{"a": 1}\n' + long + b'{"a": 2}\n' + long.rstrip()
    path.write_bytes(bz2.compress(content, 1) if suffix else content)
    del content, long
    tracemalloc.start()
    items = list(read_jsonl(path, max_line_bytes=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [item.where for item in items] == [f"{path}:{i}" for i in (1, 2, 3, 4)]
    assert [item.fields for item in items if isinstance(item, JsonLine)] == [{"a": 1}, {"a": 2}]
    assert "longer than 1,000,000 bytes" in items[1].reason if isinstance(items[1], Refused) else False
    assert peak < 8_000_000


def test_the_limit_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 12}\n{"a": 1}')
    kinds = [isinstance(item, JsonLine) for item in read_jsonl(path, max_line_bytes=8)]
    assert kinds == [True, False, True]


def test_the_byte_of_a_bad_encoding_is_counted_over_lines_that_were_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    content = b"\xef\xbb\xbf{}\n" + b"y" * 100 + b'\n{"a": "\xff"}\n'
    path.write_bytes(content)
    last = list(read_jsonl(path, max_line_bytes=50))[-1]
    assert isinstance(last, Refused)
    assert f"byte {content.index(0xFF, 4)} of the file" in last.reason
