"""What a training command shows while it runs: steps, loss, speed, and loudly when the run is lost."""

from __future__ import annotations

from collections.abc import Callable

from app.console import Bar
from app.log_lines import LogLines
from model.training.loop import TrainProgress, TrainResult


class TrainingProgress:
    """Shows each step on a bar (or log), and says once, on a line of its own, that the loss has risen beyond hope."""

    def __init__(self, bar: Bar | LogLines, say: Callable[[str], None]) -> None:
        self._bar, self._say, self._said = bar, say, False

    def __call__(self, progress: TrainProgress) -> None:
        """Shows a step. A lost run is not ended: it may come back, and nobody else can tell."""
        self._bar.update("training steps", progress.step, progress.steps)
        self._bar.note("training steps", f"loss {progress.loss:.3f}, {progress.tokens_per_second:,.0f} tokens/s")
        if progress.collapsed and not self._said:
            self._said = True
            self._say(
                f"step {progress.step}: the loss is {progress.loss:.3f}, far above the {progress.began:.3f} it began "
                "with. Runs seldom come back from there: the network may by now give everything one output. Stop it "
                "(Ctrl-C) and start another, with a lower --learning-rate and another --output; if that one rises "
                "too, look for rows that contradict each other."
            )


def warn_if_collapsed(result: TrainResult, say: Callable[[str], None]) -> None:
    """One line where the run ended with a loss far above its beginning: its weights should not be used."""
    if result.collapsed:
        say(
            f"the run ended with a loss of {result.loss:.3f}, far above the {result.began:.3f} it began with: its "
            "weights are likely to be worse than what it started from"
        )
