"""Group answers by question, number the samples of each group, and write notes on the groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from data.answer_records import AnswerRecord

_LUMP, _LUMP_SHARE = 10, 0.2


def group_names(records: Sequence[AnswerRecord]) -> tuple[str, ...]:
    """Return the name of each answer's group, which is the cluster of the intervals.

    Answers are grouped by the group in their record, otherwise by question, otherwise by contexts. A group without a
    name gets the ID of its first answer, with a number if this name is taken.
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
    """Return the number of each answer within its system and group, from 0."""
    seen: Counter[tuple[str, str]] = Counter()
    numbers = []
    for record, group in zip(records, groups, strict=True):
        numbers.append(seen[record.arm, group])
        seen[record.arm, group] += 1
    return numbers


def group_notes(records: Sequence[AnswerRecord], groups: Sequence[str]) -> list[str]:
    """Return notes on groups that make the intervals unreliable: one large group, or a single one."""
    by_arm = Counter(zip((r.arm for r in records), groups, strict=True))
    (_, group), most = by_arm.most_common(1)[0]
    notes = []
    if most >= _LUMP and most > _LUMP_SHARE * len(records) and not any(r.group for r in records):
        notes.append(
            f"{most} answers have the same question ({group!r}) and form one cluster. If they are about different "
            "things, name the field that distinguishes them (group); otherwise the intervals are too wide."
        )
    if len(set(groups)) == 1 and len(records) > 1:
        notes.append("All answers belong to one question: an interval from one question is almost meaningless.")
    return notes
