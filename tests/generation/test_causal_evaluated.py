"""A decoder checkpoint is evaluated from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main


def test_a_llama_is_a_reader(llama: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"question": "Who drew it?", "context": "Ada Thorne drew the light.", "answers": ["Ada Thorne"]},
        {"question": "Who paid?", "context": "Ada Thorne drew the light.", "answers": [], "answerable": False},
        {"question": "Who? " * 300, "context": "Ada Thorne drew the light.", "answers": ["Ada Thorne"]},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    folder = llama(positions=512)
    command = ["model", "eval", str(folder), "--data", str(tmp_path / "q.jsonl"), "--max-tokens", "3", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["model"], found["n"], found["misfits"]) == ("reader", folder.name, 3, 1)
    assert found["em"]["estimate"] == 0.0
    assert found["no_answer_accuracy"]["upper"] <= 1.0
