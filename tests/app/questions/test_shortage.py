"""Advice of the command when fewer questions were kept than requested: only options that help."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.commands.questions_make import shortage
from evaluation.question_sets.drawing import DUPLICATE, GeneratedSet
from evaluation.question_sets.round_trip import NOT_FOUND


def made(unanswerable_wanted: int, refused: Mapping[str, int]) -> GeneratedSet:
    """Return an empty set for which ten questions were requested."""
    wanted = {"one_fact": 10 - unanswerable_wanted, "unanswerable": unanswerable_wanted}
    return GeneratedSet((), {"one_fact": 0, "unanswerable": 0}, dict(refused), wanted, 3, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "kept", "refused", "named", "absent"),
    [
        (2, 0, {}, ["no near miss", "review"], ["--no-round-trip", "--unanswerable"]),
        (2, 1, {DUPLICATE: 3}, ["--unanswerable"], ["--no-round-trip", "no near miss"]),
        (2, 2, {NOT_FOUND: 4}, ["--no-round-trip"], ["--unanswerable", "no near miss"]),
        (0, 0, {}, ["10 fewer"], ["--unanswerable", "no near miss"]),
    ],
)
def test_advice_is_given_where_it_helps(
    wanted: int, kept: int, refused: Mapping[str, int], named: list[str], absent: list[str]
) -> None:
    lines = " ".join(shortage(made(wanted, refused), kept))
    assert all(text in lines for text in named)
    assert not any(text in lines for text in absent)
