"""Which answers belong to one question: groups, sample numbers, and notes on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from data.answer_records import AnswerRecord

_LUMP, _LUMP_SHARE = 10, 0.2


def group_names(records: Sequence[AnswerRecord]) -> tuple[str, ...]:
    """The cluster of each answer: its own group, else its question, else its contexts.

    A group without a name gets the id of its first answer, made distinct from other groups' names.
    """
    names: dict[tuple[str, object], str] = {}
    taken = {r.group for r in records if r.group}
    result = []
    for record in records:
        question = " ".join(record.question.casefold().split())
        key: tuple[str, object]
        if record.group:
            result.append(record.group)
            continue
        if question:
            key = ("question", question)
        elif record.contexts:
            key = ("contexts", record.contexts)
        else:
            key = ("answer", (record.arm, record.id, record.sample))
        if key not in names:
            name, n = record.id, 1
            while name in taken:
                n += 1
                name = f"{record.id} ({n})"
            taken.add(name)
            names[key] = name
        result.append(names[key])
    return tuple(result)


def sample_numbers(records: Sequence[AnswerRecord], groups: Sequence[str]) -> list[int]:
    """The number of each answer among those of its system and group, from 0."""
    seen: Counter[tuple[str, str]] = Counter()
    numbers = []
    for record, group in zip(records, groups, strict=True):
        numbers.append(seen[record.arm, group])
        seen[record.arm, group] += 1
    return numbers


def group_notes(records: Sequence[AnswerRecord], groups: Sequence[str]) -> list[str]:
    """Notes on the clusters of the intervals, if they are not one answer per question."""
    by_arm = Counter(zip((r.arm for r in records), groups, strict=True))
    (_, group), most = by_arm.most_common(1)[0]
    notes = []
    if most >= _LUMP and most > _LUMP_SHARE * len(records) and not any(r.group for r in records):
        notes.append(
            f"{most} answers have one question ({group!r}) and form one cluster: if they are about different "
            "things, name the field that distinguishes them (group), or the intervals are too wide."
        )
    if len(set(groups)) == 1 and len(records) > 1:
        notes.append("All answers belong to one question: an interval from one question is almost meaningless.")
    return notes
