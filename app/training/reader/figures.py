"""Print the scores of a trained reader or decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.console import Output

if TYPE_CHECKING:  # this module is imported to declare arguments, and must load fast
    from evaluation.reading.reading_scores import ReadingScore


def print_scores(scores: Sequence[ReadingScore], output: Output) -> None:
    """Print one line per source to stdout."""
    for score in scores:
        output.data(
            f"{score.source}: F1 {_percent(score.f1)}, exact {_percent(score.exact_match)} of {score.answerable}; "
            f"refused {_percent(score.no_answer_accuracy)} of {score.unanswerable} unanswerable; "
            f"{score.answers_per_second:.1f} answers/s"
        )


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"
