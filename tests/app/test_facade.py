"""The public Python API works as its docstring shows."""

from __future__ import annotations

from pathlib import Path

import plumbline


def test_a_script_can_index_and_ask(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ferry.txt").write_text("The ferry to Dunmarrow leaves at nine and takes forty minutes.")
    with plumbline.open(plumbline.Settings(home=tmp_path / "home")) as pipeline:
        report = plumbline.index(pipeline, [notes], collection="notes")
        result = pipeline.answer(plumbline.QueryRequest("How long does the ferry to Dunmarrow take?"))
    assert (report.documents, report.refused) == (1, ())
    assert result.sources[0].document_id == "ferry.txt"
    assert result.answers[0].text
    assert all(name in dir(plumbline) for name in plumbline.__all__)
