"""Questions with excerpts: passages are found in the documents and compared exactly, or refused by line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from data.errors import DataError
from data.excerpts import Excerpt
from data.reading_examples import ReadingExample, load_reading

TEXT = "Ada wrote the first program.\nShe wrote it in 1843 — for a machine never built.\nMore follows."
START = TEXT.index("She")
END = TEXT.index("\nMore")


def _excerpt(text: str = TEXT, start: int = START, end: int = END, document: str = "7") -> dict[str, object]:
    digest = hashlib.sha256(text[start:end].encode()).hexdigest()
    return {"document": document, "start": start, "end": end, "sha256": digest}


def _line(**fields: object) -> dict[str, object]:
    return {"question": "When did Ada write it?", "answers": ["1843"], "wrong": ["never built"], **fields}


def _files(folder: Path, *lines: dict[str, object], text: str = TEXT) -> tuple[Path, Path]:
    questions, documents = folder / "q.jsonl", folder / "d.jsonl"
    questions.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    documents.write_text(
        "\n".join(json.dumps(d) for d in ({"id": "1", "text": "Other."}, {"id": "7", "title": "Ada", "text": text})),
        "utf-8",
    )
    return questions, documents


def test_the_stretch_and_its_title_are_found(tmp_path: Path) -> None:
    full = {"question": "Who?", "answers": ["Ada"], "context": "Ada did.", "title": "T"}
    questions, documents = _files(tmp_path, _line(excerpt=_excerpt()), full)
    first, second = load_reading([questions], texts=[documents]).examples
    assert first == ReadingExample(
        "When did Ada write it?", ("1843",), TEXT[START:END], "Ada", True, "q", wrong=("never built",)
    )
    assert first.context.startswith("She wrote")
    assert second.context == "Ada did."
    assert second.wrong == ()


@pytest.mark.parametrize("texts", [True, False])
def test_an_excerpt_of_no_document_there_is_named_by_line(tmp_path: Path, texts: bool) -> None:
    questions, documents = _files(tmp_path, _line(excerpt=_excerpt(document="8")), _line(context="In 1843."))
    given = [documents] if texts else []
    with pytest.raises(DataError, match=r"q\.jsonl:1: .*document '8'.*skip such lines"):
        load_reading([questions], texts=given)
    found = load_reading([questions], texts=given, skip_bad=True)
    assert len(found.examples) == 1
    assert len(found.skipped) == 1


def test_documents_that_could_not_be_read_are_named_beside_a_passage_that_is_in_none(tmp_path: Path) -> None:
    questions, documents = _files(tmp_path, _line(excerpt=_excerpt(document="8")))
    documents.write_text(documents.read_text("utf-8") + '\n{"id": "8", "text": 3}\n{', "utf-8")
    with pytest.raises(DataError, match=r"given documents \(2 of them could not be read, the first: .*d\.jsonl:3: "):
        load_reading([questions], texts=[documents])


def test_a_document_that_has_changed_is_refused(tmp_path: Path) -> None:
    questions, documents = _files(tmp_path, _line(excerpt=_excerpt()), text="A" + TEXT)
    with pytest.raises(DataError, match="the document has changed"):
        load_reading([questions], texts=[documents], skip_bad=True)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"excerpt": 5}, "must be an object"),
        ({"excerpt": {**_excerpt(), "start": "0"}}, "needs start, an integer"),
        ({"excerpt": {**_excerpt(), "end": True}}, "needs end"),
        ({"excerpt": {**_excerpt(), "end": START}}, "empty or invalid"),
        ({"excerpt": {**_excerpt(), "start": -1}}, "empty or invalid"),
        ({"excerpt": {"document": "7", "start": 0, "end": 2}}, "needs sha256, text"),
        ({"excerpt": _excerpt(), "context": "x"}, "both a context and an excerpt"),
        ({"context": "x", "wrong": "1"}, "wrong must be a list of texts"),
    ],
)
def test_a_broken_excerpt_is_named(tmp_path: Path, fields: dict[str, object], expected: str) -> None:
    questions, documents = _files(tmp_path, _line(**fields))
    with pytest.raises(DataError, match=rf"q\.jsonl:1: .*{expected}"):
        load_reading([questions], texts=[documents])


def test_an_excerpt_says_what_it_is() -> None:
    assert Excerpt("7", 3, 9, "00").name == "characters 3 to 9 of document '7'"
