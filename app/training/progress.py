"""Show the progress of training commands, and warn if the training diverges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.console import Bar
from app.log_lines import LogLines
from model.training.loop import TrainProgress, TrainResult


class TrainingProgress:
    """A progress callback that shows each step on a bar or in a log, and warns once if the loss diverges."""

    def __init__(self, bar: Bar | LogLines, notify: Callable[[str], None]) -> None:
        self._bar, self._notify, self._reported = bar, notify, False

    def __call__(self, progress: TrainProgress) -> None:
        """Show a step. A diverging run is not stopped, because it may recover."""
        self._bar.update("training steps", progress.step, progress.steps)
        self._bar.note("training steps", f"loss {progress.loss:.3f}, {progress.tokens_per_second:,.0f} tokens/s")
        if progress.collapsed and not self._reported:
            self._reported = True
            self._notify(
                f"step {progress.step}: the loss is {progress.loss:.3f}, far above the initial "
                f"{progress.began:.3f}. Training seldom recovers from this: the network may "
                "give one output for every input by now. Stop it (Ctrl-C) and start again with "
                "a lower --learning-rate and another --output; if that run diverges too, look "
                "for rows that contradict each other."
            )


def warn_if_collapsed(result: TrainResult, notify: Callable[[str], None]) -> None:
    """Warn that the weights should not be used if the run ended with a loss far above the initial one."""
    if result.collapsed:
        notify(
            f"the run ended with a loss of {result.loss:.3f}, far above the initial "
            f"{result.began:.3f}: its weights are likely to be worse than those it started from"
        )


def warn_of_skipped(skipped: Sequence[str], notify: Callable[[str], None], what: str = "lines") -> None:
    """Print the number of invalid lines or items that were left out, and the first of them."""
    if skipped:
        notify(f"{len(skipped)} bad {what} left out, the first: {skipped[0]}")
