"""Documents from which training rows are generated, and the error for a path without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.training.texts import training_documents
from data.errors import DataError


def test_documents_of_every_place_without_what_cannot_be_read(tmp_path: Path) -> None:
    for name, text in (("a/one.txt", "The pier is long."), ("a/none.txt", ""), ("b/two.txt", "The lamp is green.")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    found = list(training_documents([tmp_path / "b", tmp_path / "a"]))
    assert [document.text for document in found] == ["The lamp is green.", "The pier is long."]


@pytest.mark.parametrize(("files", "reason"), [({}, "no file"), ({"a.txt": ""}, "empty")])
def test_a_place_without_a_document_is_named(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad"
    good.write_text("The pier is long.", "utf-8")
    bad.mkdir()
    for name, text in files.items():
        (bad / name).write_text(text, "utf-8")
    with pytest.raises(DataError, match=reason) as caught:
        list(training_documents([good, bad]))
    assert str(bad) in str(caught.value)
