"""Labels on which people and verifier always agree do not give an interval of zero width."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from evaluation.correction.corrected import correct
from evaluation.correction.figures import NO_ERROR
from evaluation.correction.labelled_run import HALLUCINATED, SUPPORTED, LabelledRun
from evaluation.statistics.estimates import HallucinationEstimate


def _run(outcomes: tuple[int, int], questions: int, labelled: int) -> LabelledRun:
    """Return two arms with one outcome each for all responses, by verifier and by label."""
    shares = np.stack([np.eye(4)[list(outcomes)]] * questions)
    place = np.arange(labelled)
    names = tuple(f"q{i}" for i in range(questions))
    stratum = np.zeros(questions, dtype=np.intp)
    verdicts = shares[:labelled]
    return LabelledRun(("one", "two"), names, shares, place, verdicts, verdicts, stratum, (questions, questions))


def _estimates(run: LabelledRun) -> Iterator[HallucinationEstimate]:
    found = correct(run, [("one", "two")])
    for corrected in itertools.chain.from_iterable((a.hallucinated, a.answered) for a in found.arms):
        yield from (corrected.rectified, corrected.labels_only, corrected.estimate)
    for pair in found.pairs:
        yield from (pair.difference.rectified, pair.difference.estimate)


@pytest.mark.parametrize("outcomes", [(HALLUCINATED, SUPPORTED), (HALLUCINATED, HALLUCINATED), (SUPPORTED, SUPPORTED)])
@pytest.mark.parametrize(("questions", "labelled"), [(15, 15), (40, 7)])
def test_no_interval_has_no_width(outcomes: tuple[int, int], questions: int, labelled: int) -> None:
    run = _run(outcomes, questions, labelled)
    for estimate in _estimates(run):
        if estimate.rate is None:
            assert NO_ERROR in estimate.reason and estimate.lower is None
        else:
            assert estimate.lower is not None and estimate.upper is not None
            assert estimate.upper - estimate.lower > 0.01
    arm = correct(run).arms[0].hallucinated
    assert arm.rectified.rate is None and arm.headline == "labels_only"
    assert arm.estimate.rate == float(outcomes[0] == HALLUCINATED)
