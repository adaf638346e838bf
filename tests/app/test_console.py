"""Console output: control characters are escaped in any encoding, and JSON stays valid."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from app.console import Output, printable

HOSTILE = "a\x1b[2Jb\x9b31mc\x07\x7f\rd\r\ne\tf"


def test_control_characters_are_shown_and_do_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=False)
    output.data(HOSTILE)
    output.info(HOSTILE)
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "a\\x1b[2Jb\\x9b31mc\\x07\\x7f\\x0dd" in text
        assert not {"\x1b", "\x9b", "\x07", "\x7f"} & set(text)
    assert printable("é日本 [red]x[/red] :smile:\n\t") == "é日本 [red]x[/red] :smile:\n\t"


def test_json_holds_the_same_text_in_characters_that_do_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).json({"text": HOSTILE, "é": "\ud800"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": HOSTILE, "é": "\ud800"}
    assert all(" " <= letter < "\x7f" or letter == "\n" for letter in out if letter < "\xa0")


_SAYS = """
from app.console import Output
output = Output(as_json=True)
output.data("caf\\u00e9 \\u65e5 \\ud800")
output.json({"text": "caf\\u00e9 \\u65e5 \\ud800"})
output.info("caf\\u00e9 \\ud800")
"""


@pytest.mark.parametrize(
    ("setting", "data"),
    [
        ({"PYTHONIOENCODING": "ascii"}, b"caf\\xe9 \\u65e5 \\ud800"),
        ({"PYTHONIOENCODING": "latin-1:strict"}, b"caf\xe9 \\u65e5 \\ud800"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, b"caf\\xe9 \\u65e5 \\ud800"),
        ({"LC_ALL": "C.UTF-8"}, "café 日 \\ud800".encode()),
    ],
)
def test_any_encoding_of_the_terminal(setting: dict[str, str], data: bytes) -> None:
    home = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", _SAYS], env=home | setting, capture_output=True, check=True, cwd=Path.cwd()
    )
    first, second = done.stdout.splitlines()
    assert first == data
    assert json.loads(second) == {"text": "café 日 \ud800"}
    assert b"Traceback" not in done.stderr


def test_a_home_that_nobody_knows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "~no-such-user-at-all/x")
    assert main(["collections"]) == 1
    assert "PLUMBLINE_HOME" in " ".join(capsys.readouterr().err.split())
    assert main(["model", "check", "~no-such-user-at-all/x"]) == 1
    assert "~" in " ".join(capsys.readouterr().err.split())
