"""docs/certified_deployment.md, run as it stands: from labels to an alarm."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.drill

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "certified_deployment.md"
_BLOCK = re.compile(r"^```(bash|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def prepared(folder: Path, port: int) -> str:
    """Write the page's Python files into the folder; its commands as one script, each echoed before it runs."""
    commands = []
    for kind, code in _BLOCK.findall(PAGE.read_text()):
        code = code.replace("8000", str(port))
        if kind == "python":
            name = re.match(r"# (\w+\.py) ", code)
            assert name is not None, code
            (folder / name[1]).write_text(code)
        elif kind == "bash":
            commands.append(code)
    (folder / "data").symlink_to(ROOT / "data")
    commands_path = folder / "bin"
    commands_path.mkdir()
    for name, call in (("plumbline", "-P -m app.cli"), ("python", "")):
        script = commands_path / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
        script.chmod(0o755)
    return "set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + "\n".join(commands)


def test_every_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    script = prepared(tmp_path, free_port())
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")},
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PLUMBLINE_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=3000
    )
    (tmp_path / "output.txt").write_text(done.stdout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    certified = re.search(r"^certificate (\w{16}): ", done.stdout, re.MULTILINE)
    assert certified is not None and "certified: answers with a score of at least" in done.stdout
    served, unlike = re.findall(r"\{'answered': (\d+), 'withheld': (\d+)\}", done.stdout)
    assert sum(map(int, served)) == 30 and sum(map(int, unlike)) == 108
    assert 0 < int(served[0]) < 30 and int(unlike[0]) / 108 < int(served[0]) / 30
    before, after = (part for part in done.stdout.split("\nhandbook\n")[1:])
    assert certified[1] in before and "ALARM" not in before and "30 seen; no alarm" in before
    assert f"{served[0]} labelled" in before and "check 1" in before and "worse on 0, better on 0" in before
    raised = re.search(r"138 seen; ALARM: unlike the calibration's, raised after (\d+) questions", after)
    assert raised is not None and 30 < int(raised[1]) <= 138
    assert "exit code 3" in after and "ALARM: above" not in after


def test_the_page_shows_what_such_a_run_prints() -> None:
    """Its output blocks stand behind the commands that print them."""
    blocks = [(kind, code) for kind, code in _BLOCK.findall(PAGE.read_text()) if kind != "python"]
    shown = [(code, blocks[place - 1][1]) for place, (kind, code) in enumerate(blocks) if kind == "text"]
    assert len(shown) == 4
    for expected, (text, command) in zip(("calibrate", "ask.py", "watch status", "watch status"), shown, strict=True):
        assert expected in command and text.strip()
    assert "exit code 3" in shown[3][0] and "ALARM" not in shown[2][0]
