"""Warnings of training commands about a collapsed run: printed once, with advice, and never for a healthy run."""

from __future__ import annotations

from app.log_lines import LogLines
from app.training.progress import TrainingProgress, warn_if_collapsed
from model.training.loop import TrainProgress, TrainResult


def _shown(losses: list[float], began: float | None) -> list[str]:
    messages: list[str] = []
    show = TrainingProgress(LogLines(messages.append, lambda: 0.0), messages.append)
    for step, loss in enumerate(losses, start=298):
        show(TrainProgress(step, 2000, loss, 60.0, 4000.0, began))
    return messages


def test_a_lost_run_is_said_once_with_figures_and_what_to_do() -> None:
    (line,) = _shown([0.6, 1.1, 0.7, 1.0, 1.0], 0.61)
    assert all(part in line for part in ("301", "1.000", "0.610"))
    assert "Ctrl-C" in line
    assert "--learning-rate" in line


def test_a_run_that_is_well_is_not_spoken_of() -> None:
    assert _shown([0.6, 1.3, 0.9, 0.6], 0.61) == []
    assert _shown([5.0, 9.0, 9.0, 9.0], None) == []


def test_the_end_of_a_lost_run_is_said_too() -> None:
    messages: list[str] = []
    warn_if_collapsed(TrainResult(500, 0, 0.5, 60.0, (), 0.61), messages.append)
    assert messages == []
    warn_if_collapsed(TrainResult(500, 0, 1.0, 60.0, (), 0.61), messages.append)
    (line,) = messages
    assert "1.000" in line and "0.610" in line
