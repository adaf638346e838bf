"""Refused files in the output of ``plumbline index``: grouped by reason, entire files first, notes last."""

from __future__ import annotations

import json

import pytest

from app.commands.index import _show, _tokenising
from app.console import Output
from app.errors import UsageError
from data.refused import Refused, note, part
from retrieval.indexing.report import IndexReport


def report(*refused: Refused, notes: tuple[Refused, ...] = ()) -> IndexReport:
    counts = dict.fromkeys(("added", "changed", "unchanged", "removed", "documents", "chunks", "embedded", "reused"), 1)
    return IndexReport(
        collection="c", generation_hash="0" * 64, refused=refused, rebuilt=True, seconds=1.0, notes=notes, **counts
    )


def test_reasons_are_shown_once_with_their_first_places(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [part(f"a.csv:{n}", f"the row has {n} cells") for n in range(2, 9)]
    rest = Refused("a.csv", "93 more like: the row has 2 cells", "part", 93)
    found = report(*rows, rest, Refused("b.exe", "not read"), notes=(note("c.html", "11 characters hidden"),))
    _show(found, (), Output(as_json=False))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert lines[0] == "  refused b.exe: not read"
    assert lines[1].startswith("  refused, 100 parts of files: the row has 2 cells")
    assert lines[-1] == "  note c.html: 11 characters hidden"
    assert found.refused_count == 101
    assert len(lines) == 9


def test_json_has_the_counts(capsys: pytest.CaptureFixture[str]) -> None:
    _show(report(Refused("b.exe", "not read")), (), Output(as_json=True))
    facts = json.loads(capsys.readouterr().out)
    assert (facts["refused_count"], facts["refused"][0]["kind"], facts["notes"]) == (1, "file", [])


def test_a_language_that_is_not_known_is_named() -> None:
    with pytest.raises(UsageError, match="klingon"):
        _tokenising("klingon")
    german = _tokenising("German")
    assert german is not None
    assert (german.stemming, german.cjk) == ("german", "auto")
