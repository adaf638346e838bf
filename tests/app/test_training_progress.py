"""What a training command says of a run that is lost: once, with what to do; nothing of one that is well."""

from __future__ import annotations

from app.log_lines import LogLines
from app.training.progress import TrainingProgress, warn_if_collapsed
from model.training.loop import TrainProgress, TrainResult


def _shown(losses: list[float], began: float | None) -> list[str]:
    said: list[str] = []
    show = TrainingProgress(LogLines(said.append, lambda: 0.0), said.append)
    for step, loss in enumerate(losses, start=298):
        show(TrainProgress(step, 2000, loss, 60.0, 4000.0, began))
    return said


def test_a_lost_run_is_said_once_with_figures_and_what_to_do() -> None:
    (said,) = _shown([0.6, 1.1, 0.7, 1.0, 1.0], 0.61)
    assert all(part in said for part in ("301", "1.000", "0.610"))
    assert "Ctrl-C" in said
    assert "--learning-rate" in said


def test_a_run_that_is_well_is_not_spoken_of() -> None:
    assert _shown([0.6, 1.3, 0.9, 0.6], 0.61) == []
    assert _shown([5.0, 9.0, 9.0, 9.0], None) == []


def test_the_end_of_a_lost_run_is_said_too() -> None:
    said: list[str] = []
    warn_if_collapsed(TrainResult(500, 0, 0.5, 60.0, (), 0.61), said.append)
    assert said == []
    warn_if_collapsed(TrainResult(500, 0, 1.0, 60.0, (), 0.61), said.append)
    (line,) = said
    assert "1.000" in line and "0.610" in line
