"""First steps of a new user: the demo's home, the shipped samples by name, files of another layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import build_parser
from app.commands.demo import home_folder
from data.errors import DataError
from data.reading_examples import load_reading
from data.reading_files import load_reading_files
from data.squad import is_squad

SQUAD = {
    "data": [
        {
            "title": "Quay",
            "paragraphs": [
                {
                    "context": "The quay is five metres deep.",
                    "qas": [
                        {"id": "1", "question": "How deep is it?", "answers": [{"text": "five metres"}]},
                        {"id": "2", "question": "How wide is it?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ]
}
LINE = {"question": "How deep?", "context": "Five metres.", "answers": ["Five metres"], "answerable": True}


def test_the_demo_works_where_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLUMBLINE_HOME", raising=False)
    assert home_folder(None) == Path(".demo")
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    assert home_folder(None) == tmp_path
    assert home_folder(tmp_path / "other") == tmp_path / "other"
    monkeypatch.setenv("PLUMBLINE_HOME", "")
    assert home_folder(None) == Path(".demo")


def test_the_demo_evaluates_with_every_default_of_evaluate() -> None:
    parser = build_parser()
    demo, evaluate = vars(parser.parse_args(["demo"])), vars(parser.parse_args(["evaluate", "samples"]))
    own = {"command", "run", "reparse", "collection", "name", "model"}
    assert {name: demo[name] for name in evaluate if name not in own} == {
        name: value for name, value in evaluate.items() if name not in own
    }


@pytest.mark.parametrize("indent", [None, 1])
def test_readers_are_trained_on_squad_files_too(indent: int | None, tmp_path: Path) -> None:
    squad, lines = tmp_path / "quay.json", tmp_path / "own.jsonl"
    squad.write_text(json.dumps(SQUAD, indent=indent))
    lines.write_text(json.dumps(LINE) + "\n")
    assert is_squad(squad) and not is_squad(lines)
    found = load_reading_files([lines, squad])
    assert [e.question for e in found.examples] == ["How deep?", "How deep is it?", "How wide is it?"]
    assert [e.answerable for e in found.examples] == [True, True, False]
    assert load_reading_files([lines]) == load_reading([lines])


def test_a_broken_line_is_named_whatever_the_layout(tmp_path: Path) -> None:
    broken = tmp_path / "own.jsonl"
    broken.write_text("{\n" + json.dumps(LINE) + "\n")
    with pytest.raises(DataError, match=r"own\.jsonl:1"):
        load_reading_files([broken])
    found = load_reading_files([broken], skip_bad=True)
    assert len(found.examples) == len(found.skipped) == 1
