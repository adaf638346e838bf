"""Refusals are counted by reason, and only the first ones of each reason are kept."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from data.documents import Document
from data.loaders import load_documents
from data.parsing.limits import ParsingLimits
from data.refused import RefusalLog, Refused, note, part, refusal_groups

Read = Callable[..., list[Document | Refused]]


def test_numbers_and_quoted_words_do_not_make_another_reason() -> None:
    groups = refusal_groups(
        [part("a:1", "the row 'x' has 3 cells"), Refused("b", "empty"), part("a:2", "the row 'y' has 14 cells")], kept=1
    )
    assert [(group.kind, group.count, len(group.first)) for group in groups] == [("file", 1, 1), ("part", 2, 1)]


def test_whole_files_come_first_and_notes_last() -> None:
    groups = refusal_groups([note("n", "x"), part("p", "y"), part("q", "y"), Refused("f", "z")], kept=5)
    assert [group.kind for group in groups] == ["file", "part", "note"]


def test_what_is_not_kept_is_counted() -> None:
    log = RefusalLog(kept=2)
    assert [log.add(part(f"a:{n}", f"bad {n}")) for n in range(5)] == [True, True, False, False, False]
    [rest] = log.overflow("a")
    assert (rest.where, rest.count, rest.kind) == ("a", 3, "part")
    again = refusal_groups([part("a:0", "bad 0"), rest], kept=5)
    assert [(group.count, group.reason) for group in again] == [(4, "bad 0")]


def test_any_number_of_reasons_takes_bounded_memory() -> None:
    log = RefusalLog(kept=1)
    names = ["".join(chr(97 + int(digit)) for digit in str(n)) for n in range(2000)]
    assert sum(log.add(part("a", name)) for name in names) <= 201
    assert sum(group.count for group in log.groups()) == 2000


@pytest.mark.parametrize("suffix", ["jsonl.gz", "jsonl"])
def test_a_small_file_of_many_bad_lines_gives_few_refusals(tmp_path: Path, suffix: str) -> None:
    content = b"{}\n" * 30_000
    (tmp_path / f"bad.{suffix}").write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    items = [item for item in load_documents([tmp_path]) if isinstance(item, Refused)]
    assert len(items) <= 25
    assert sum(item.count for item in items) == 30_000


def test_rows_have_a_limit_of_their_own(here: Read) -> None:
    items = here("a.csv", "id,text\n" + "".join(f"{n},x\n" for n in range(50)), rows=10)
    assert len([item for item in items if isinstance(item, Document)]) == 10
    [expected] = [item for item in items if isinstance(item, Refused)]
    assert (expected.kind, "10 rows" in expected.reason) == ("part", True)


def test_the_limit_of_rows_must_be_positive() -> None:
    with pytest.raises(ValueError, match="rows"):
        ParsingLimits(rows=0)
