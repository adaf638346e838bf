from __future__ import annotations

import subprocess
import sys

import pytest

from app.log_lines import LogLines, duration


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_line_comes_now_and_then_with_the_time_that_remains(clock: Clock) -> None:
    messages: list[str] = []
    lines = LogLines(messages.append, clock)
    for step in range(0, 2000, 10):
        lines.update("samples", step, 2000)
        clock.now += 5
    assert messages[:2] == ["samples: 60 of 2,000, 2.0/s, 16 min left", "samples: 120 of 2,000, 2.0/s, 16 min left"]
    assert len(messages) == 33
    assert messages[-1] == "samples: 1,980 of 2,000, 2.0/s, 10 s left"


def test_what_ends_soon_says_nothing_and_notes_stand_for_the_rate(clock: Clock) -> None:
    messages: list[str] = []
    lines = LogLines(messages.append, clock)
    lines.update("scoring", 0, 10)
    clock.now += 29
    lines.update("scoring", 9, 10)
    clock.now += 29
    lines.update("scoring", 10, 10)  # done: what follows is the result
    assert messages == []
    for step in (1, 2):
        lines.update("training steps", step, 5)
        lines.note("training steps", f"loss {1 / step}")
        clock.now += 60
    lines.update("training steps", 3, 5)
    lines.update("rows", 7, None, " rows/s")
    clock.now += 31
    lines.update("rows", 38, None, " rows/s")
    assert messages == [
        "training steps: 1 of 5",
        "training steps: 2 of 5, loss 1.0, 3 min left",
        "training steps: 3 of 5, loss 0.5, 2 min left",
        "rows: 38, 1.0 rows/s",
    ]


def test_lengths_of_time() -> None:
    assert [duration(s) for s in (4.2, 99, 120, 6000, 11100)] == ["4 s", "99 s", "2 min", "1 h 40 min", "3 h 5 min"]


def test_without_a_terminal_no_bar_is_drawn() -> None:
    code = """
from app.console import Output
with Output(as_json=False).progress() as bar:
    for n in range(11):
        bar.update("samples", n, 10)
        bar.note("samples", "going well")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
