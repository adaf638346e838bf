"""SIGTERM ends a subprocess without a traceback, even in a destructor."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
import os, signal
from retrieval.encoding.subprocesses import ignore_interrupts

class Holder:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

ignore_interrupts()
holder = Holder()
{end}
"""


@pytest.mark.parametrize("end", ["del holder", "pass", "os.kill(os.getpid(), signal.SIGTERM)"])
def test_sigterm_at_the_end_prints_nothing(end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(end=end)], capture_output=True, timeout=60, check=False
    )
    assert done.stderr == b""
    assert done.returncode in (0, -signal.SIGTERM)  # Python removes its handlers at the end
