"""Helpers that write JSON Lines files of examples and check what every loader does with them."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError

Load = Callable[..., Any]


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
    return path


def check_compressed_files(load: Load, good: object, folder: Path) -> None:
    """Check that plain files with a byte order mark, bz2 and gzip files give equal examples."""
    text = json.dumps(good).encode()
    (folder / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + text)
    (folder / "a.jsonl.bz2").write_bytes(bz2.compress(text))
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(text))
    found = load([folder / "a.jsonl", folder / "a.jsonl.bz2", folder / "a.jsonl.gz"])
    assert len(found.examples) == 3
    assert len(set(found.examples)) == 1


def check_bad_line(load: Load, good: object, bad: object, expected: str, folder: Path) -> DataError:
    """Check that a bad line is an error that names it, and that skip_bad omits and lists it."""
    path = write(folder / "a.jsonl", good, bad, good)
    with pytest.raises(DataError, match=rf"a\.jsonl:2: .*{expected}") as refused:
        load([path])
    found = load([path], skip_bad=True)
    assert len(found.examples) == 2
    assert len(found.skipped) == 1
    assert ":2: " in found.skipped[0]
    return refused.value


def check_limit(load: Load, good: object, folder: Path) -> None:
    """Check that a limit counts the valid lines of each file."""
    one, two = write(folder / "a.jsonl", "{", good, good, good), write(folder / "b.jsonl", good, good, "{")
    found = load([one, two], skip_bad=True, limit=2)
    assert len(found.examples) == 4
    assert len(found.skipped) == 1  # lines after the limit are not read
