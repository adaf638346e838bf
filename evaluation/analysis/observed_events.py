"""Rates of events that arms observe in addition to the outcome, such as following a suggestion or an instruction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.analysis.arrays import measured_share
from evaluation.runs.records import ObservedEvent, SampleRecord
from evaluation.statistics.estimates import Measurement
from evaluation.statistics.measure import Resampler


@dataclass(frozen=True, slots=True)
class ObservedRate:
    """Rate of an event among the responses of an arm for which it is known whether the event happened.

    definite: number of these responses. indefinite: number of the arm's other responses. reasons: numbers of the
    others by reason.
    """

    arm: str
    name: str
    rate: Measurement
    definite: int
    indefinite: int
    reasons: tuple[tuple[str, int], ...]


def observed_rates(records: Sequence[SampleRecord], resampler: Resampler) -> tuple[ObservedRate, ...]:
    """Return one rate for every arm and event, in order of appearance."""
    names: dict[tuple[str, str], None] = {}
    for record in records:
        names.update(dict.fromkeys((record.arm, seen.name) for seen in record.observed))
    return tuple(_rate(arm, name, [r for r in records if r.arm == arm], resampler) for arm, name in names)


def _rate(arm: str, name: str, records: Sequence[SampleRecord], resampler: Resampler) -> ObservedRate:
    def event_of(record: SampleRecord) -> ObservedEvent | None:
        return next((o for o in record.observed if o.name == name), None)

    def definite(record: SampleRecord) -> bool:
        event = event_of(record)
        return event is not None and event.happened is not None

    def happened(record: SampleRecord) -> bool:
        event = event_of(record)
        return event is not None and event.happened is True

    reasons: Counter[str] = Counter()
    for record in records:
        if not definite(record):
            event = event_of(record)
            reasons[event.reason if event else _general(record.evaluation.reason)] += 1
    rate = measured_share(records, definite, happened, resampler, f"a response that {name}")
    indefinite = sum(reasons.values())
    return ObservedRate(arm, name, rate, len(records) - indefinite, indefinite, tuple(reasons.most_common()))


def _general(reason: str) -> str:
    """Return the reason without its question ID, so that equal reasons are counted together."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "...", reason) or "no answer"
