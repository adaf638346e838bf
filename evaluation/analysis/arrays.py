"""Conversion of one arm's samples to arrays by question, the input of every ratio of totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.runs.records import SampleRecord
from evaluation.statistics.counts import Floats
from evaluation.statistics.estimates import Measurement
from evaluation.statistics.measure import Resampler, measure_ratio


@dataclass(frozen=True, slots=True)
class QuestionShares:
    """Shares of each question's responses with an event and in the denominator.

    event: [questions], share with the event. base: [questions], share in the denominator. counted: number of responses
    in the denominator.
    """

    event: Floats
    base: Floats
    counted: int


def shares_by_question(
    records: Sequence[SampleRecord],
    base: Callable[[SampleRecord], bool],
    event: Callable[[SampleRecord], bool],
    questions: Sequence[str] | None = None,
) -> QuestionShares:
    """Compute the share of each question's responses that satisfy ``base``, and the share that also satisfy ``event``.

    questions: IDs of the result's rows; both shares are 0 for a question without a response. The default is all
    questions with a response, sorted by ID.
    """
    ids = sorted({r.question_id for r in records}) if questions is None else list(questions)
    index_of = {question: i for i, question in enumerate(ids)}
    counts, bases, events = np.zeros(len(ids)), np.zeros(len(ids)), np.zeros(len(ids))
    for record in records:
        row = index_of.get(record.question_id)
        if row is None:
            continue
        counts[row] += 1
        value = base(record)
        bases[row] += value
        events[row] += value and event(record)
    each = np.maximum(counts, 1.0)
    return QuestionShares(events / each, bases / each, int(bases.sum()))


def measured_share(
    records: Sequence[SampleRecord],
    base: Callable[[SampleRecord], bool],
    event: Callable[[SampleRecord], bool],
    resampler: Resampler,
    name: str,
) -> Measurement:
    """Compute a ratio of totals with its intervals; undefined if ``base`` never holds.

    name: display name of the event.
    """
    found = shares_by_question(records, base, event)
    return measure_ratio(found.event, found.base, found.counted, resampler, event=name)
