"""Parse many files in a pool of child processes, and yield their documents in input order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from data.parsing.file_kinds import kind_of_file
from data.parsing.files import parse_file
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, Origin
from data.parsing.process import ParserProcess
from data.refused import Refused

_MAX_PENDING = 64


@dataclass(frozen=True, slots=True)
class FileToParse:
    """A file to parse. origin: names and IDs of its documents."""

    path: Path
    origin: Origin


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """An item of a file. file: the file, None if it was refused before it could be parsed."""

    item: Item
    file: FileToParse | None


FileParsing = Callable[[Iterable[FileToParse | Refused], ParsingLimits, int], Generator[ParsedItem, None, None]]
"""The type of ``parse_files`` and of functions with the same result."""


def parse_files(
    files: Iterable[FileToParse | Refused], limits: ParsingLimits, workers: int = 1
) -> Generator[ParsedItem, None, None]:
    """Yield the items of all files in input order, including refusals. The result does not depend on ``workers``.

    Up to ``workers`` child processes each parse one file, and wait with a full pipe until that file's turn. This
    process holds only the current document, even if files are large. Child processes start when a file needs one, parse
    many files, and are replaced when they die. They end when the iterator is closed.

    Raises DataError if no child process can be started.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    source = iter(files)
    waiting: deque[_PendingFile] = deque()
    idle: list[ParserProcess] = []
    busy = 0
    exhausted = False
    try:
        while True:
            while not exhausted and len(waiting) < _MAX_PENDING and busy < workers:
                file = next(source, None)
                if file is None:
                    exhausted = True
                elif isinstance(file, FileToParse) and _needs_child(file):
                    child = _usable_child(idle) or ParserProcess(limits)
                    waiting.append(_PendingFile(file, child))
                    busy += 1
                    child.send_file(file.path, file.origin)
                else:
                    waiting.append(_PendingFile(file, None))
            if not waiting:
                return
            pending = waiting[0]
            match pending.file:
                case Refused():
                    yield ParsedItem(pending.file, None)
                case FileToParse() if pending.child is None:
                    for item in parse_file(pending.file.path, pending.file.origin, limits):
                        yield ParsedItem(item, pending.file)
                case FileToParse():
                    for item in pending.child.items(pending.file.origin):
                        yield ParsedItem(item, pending.file)
                    busy -= 1
                    idle.append(pending.child)
            waiting.popleft()
    finally:
        for pending in waiting:
            if pending.child is not None:
                pending.child.close()
        for child in idle:
            child.close()


@dataclass(frozen=True, slots=True)
class _PendingFile:
    file: FileToParse | Refused
    child: ParserProcess | None


def _needs_child(file: FileToParse) -> bool:
    kind = kind_of_file(file.path)
    return kind is not None and kind.in_child


def _usable_child(idle: list[ParserProcess]) -> ParserProcess | None:
    """Return an idle child that can parse another file, None if there is none. Ends unusable children."""
    while idle:
        child = idle.pop()
        if child.usable:
            return child
        child.close()
    return None
