"""Refused: an item that was not read, with the reason.

Refusals are yielded between the documents, so that every one is reported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

RefusedKind = Literal["file", "part", "note"]


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that was not read.

    where: the file or folder, with ``:line`` for a line of a file. reason: what is wrong and what to do. kind: "file"
    for a complete file or folder, "part" for a row, page or other part of a file that is otherwise read, "note" for
    content that was read but needs attention. count: number of similar items that this one represents.
    """

    where: str
    reason: str
    kind: RefusedKind = "file"
    count: int = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


def part(where: str, reason: str) -> Refused:
    """Return a refusal of a row, page or other part of a file."""
    return Refused(where, reason, "part")


def note(where: str, reason: str) -> Refused:
    """Return a note about content that was read."""
    return Refused(where, reason, "note")


@dataclass(slots=True)
class RefusedGroup:
    """Refusals with the same reason. first: the first few refusals. count: number of all refusals."""

    kind: RefusedKind
    first: list[Refused] = field(default_factory=list)
    count: int = 0

    @property
    def reason(self) -> str:
        """The reason of the first refusal."""
        return self.first[0].reason.rpartition(_MORE)[2]


class RefusalLog:
    """A counter of refusals by reason, which uses bounded memory.

    Reasons that differ only in numbers and quoted words are the same. If there are more than _MOST_GROUPS reasons, the
    others are counted together. kept: number of refusals to keep for each reason.
    """

    def __init__(self, kept: int) -> None:
        if kept < 1:
            raise ValueError(f"kept must be at least 1, not {kept}")
        self._kept = kept
        self._groups: dict[tuple[RefusedKind, str], RefusedGroup] = {}

    def add(self, refused: Refused) -> bool:
        """Count a refusal. Returns whether it is kept."""
        key = (refused.kind, reason_pattern(refused.reason))
        if key not in self._groups and len(self._groups) >= _MOST_GROUPS:
            key = (refused.kind, "")
        group = self._groups.setdefault(key, RefusedGroup(refused.kind))
        group.count += refused.count
        if len(group.first) < self._kept:
            group.first.append(refused)
            return True
        return False

    def groups(self) -> list[RefusedGroup]:
        """Return all groups: files, then parts, then notes; within each kind, the most frequent reason first."""
        return sorted(self._groups.values(), key=lambda group: (_KINDS.index(group.kind), -group.count))

    def overflow(self, where: str) -> Iterator[Refused]:
        """Yield one refusal for each reason that has more refusals than were kept, with the number of the others.

        where: location of these refusals.
        """
        for group in self.groups():
            others = group.count - sum(refused.count for refused in group.first)
            if others > 0:
                reason = f"{others:,}{_MORE}{group.reason}"
                yield Refused(where, reason, group.kind, others)


def refusal_groups(refused: Iterable[Refused], kept: int) -> list[RefusedGroup]:
    """Return the refusals grouped by reason, complete files first. kept: number of refusals to keep for each reason."""
    log = RefusalLog(kept)
    for one in refused:
        log.add(one)
    return log.groups()


@lru_cache(maxsize=1024)
def reason_pattern(reason: str) -> str:
    """Return the reason with numbers and quoted words replaced by #."""
    return _DIFFERING.sub("#", reason.rpartition(_MORE)[2])[:300]


def shown(path: Path) -> str:
    r"""Return the path as printable text. Bytes that are not UTF-8 become ``\xNN``."""
    return printable(os.fsencode(path).decode("utf-8", "backslashreplace"))


def printable(name: str) -> str:
    r"""Return the name on one line, with control characters escaped (``\n``)."""
    return _CONTROL.sub(lambda match: repr(match.group())[1:-1], name)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DIFFERING = re.compile(r"'[^']*'|\"[^\"]*\"|0x[0-9a-f]+|\d[\d,.]*")
_MORE = " more like: "
_MOST_GROUPS = 200
_KINDS: tuple[RefusedKind, ...] = ("file", "part", "note")
