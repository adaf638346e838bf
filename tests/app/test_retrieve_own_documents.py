"""Measures on a set in which every query is also a document, as in BEIR's ArguAna."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main

TEXTS = {
    "pro-a": "Bicycles in the old harbour should be allowed because the lanes are wide.",
    "con-a": "Bicycles in the old harbour should be forbidden because the lanes are steep.",
    "pro-b": "The lighthouse ought to open on Sundays since visitors come then.",
    "con-b": "The lighthouse ought to stay closed on Sundays since its keeper rests then.",
}


def write(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": name, "title": "", "text": text} for name, text in TEXTS.items()]
    rows.append({"_id": "bare", "title": "A title that stands alone about the lighthouse", "text": ""})
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [{"_id": name, "text": text} for name, text in TEXTS.items()]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    pairs = [("pro-a", "con-a"), ("con-a", "pro-a"), ("pro-b", "con-b"), ("con-b", "bare")]
    lines = "".join(f"{query}\t{document}\t1\n" for query, document in pairs)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines)
    return folder


def test_queries_that_are_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, home = write(tmp_path / "set"), str(tmp_path / "home")
    assert main(["index", str(folder / "corpus.jsonl"), "--collection", "ferries", "--home", home, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["added"] == 5  # the one with a title alone too
    run = tmp_path / "run"
    arguments = ["--qrels", str(folder / "qrels" / "test.tsv"), "--mode", "sparse", "--run-file", str(run)]
    assert (
        main(["retrieve", "--collection", "ferries", *arguments, "--measure", "RR@10", "--json", "--home", home]) == 0
    )
    captured = capsys.readouterr()
    measured = json.loads(captured.out)
    assert measured["by_question"]["pro-a"]["RR@10"] == 1.0
    assert next(line.split()[2] for line in run.read_text().splitlines() if line.startswith("pro-a ")) == "con-a"
    assert "4 of 4 questions are documents" in captured.err
    assert "count as missed" not in captured.err
