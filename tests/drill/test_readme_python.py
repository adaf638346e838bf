"""The README's Python block, as a newcomer would run it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.drill

ROOT = Path(__file__).resolve().parents[2]


def test_the_python_of_the_readme_answers_and_measures(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text("# Leaving\n\nThe notice period is six weeks for everybody.\n")
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "q1", "text": "How long is the notice period?", "references": ["six weeks"],'
        ' "relevant_document_ids": ["leave.md"]}\n'
    )
    environment = {"PLUMBLINE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stderr
    answer, rates = done.stdout.splitlines()
    assert answer == "six weeks [1] leave.md"
    assert re.findall(r"'(\w+)'", rates)[:1] == ["rag"]
    assert "'rag'" in rates and "'oracle'" in rates
