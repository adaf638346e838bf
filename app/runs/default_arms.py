"""The default arms of a run, which depend on its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.models.generators import is_reader
from app.pipeline import Pipeline

ARMS = ("closed_book", "rag", "oracle")
CLOSED_BOOK_LEFT_OUT = (
    "closed_book is left out: the model is a reader, which copies its answer from passages and gets none in "
    "that arm. Name closed_book among the arms to measure it anyway"
)


@dataclass(frozen=True, slots=True)
class ChosenArms:
    """The arms of a run. names: names of the arms. left_out: reason why a default arm is missing, "" if none is."""

    names: tuple[str, ...]
    left_out: str = ""


def default_arms(pipeline: Pipeline) -> ChosenArms:
    """Return all three arms for a language model, and those except closed_book for a reader.

    Raises AppError for an unknown model.
    """
    if is_reader(pipeline.settings.model, pipeline.home):
        return ChosenArms(tuple(arm for arm in ARMS if arm != "closed_book"), CLOSED_BOOK_LEFT_OUT)
    return ChosenArms(ARMS)


def chosen_arms(pipeline: Pipeline, named: Sequence[str] | None) -> ChosenArms:
    """Return the named arms, or the default ones if ``named`` is None."""
    return default_arms(pipeline) if named is None else ChosenArms(tuple(named))
