"""Parses many files in a pool of child processes and yields their documents in input order."""

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

_AHEAD = 64


@dataclass(frozen=True, slots=True)
class FileToParse:
    """A file, and the name and id of its documents."""

    path: Path
    origin: Origin


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """An item that a file yielded. file: None if it was refused before it could be parsed."""

    item: Item
    file: FileToParse | None


FileParsing = Callable[[Iterable[FileToParse | Refused], ParsingLimits, int], Generator[ParsedItem, None, None]]
"""``parse_files``, or a function with the same result."""


def parse_files(
    files: Iterable[FileToParse | Refused], limits: ParsingLimits, workers: int = 1
) -> Generator[ParsedItem, None, None]:
    """Yield the items of all files in input order, for any number of ``workers``; refusals come at their positions.

    Each of up to ``workers`` children parses one file and blocks on its full pipe until that file's turn. Only the
    current document is held here, however large the files are. Children start when the first file needs one, parse many
    files, and are replaced when they die. All end when the iterator is closed.

    Raises DataError if no child can be started.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    source = iter(files)
    waiting: deque[_Begun] = deque()
    idle: list[ParserProcess] = []
    busy = 0
    exhausted = False
    try:
        while True:
            while not exhausted and len(waiting) < _AHEAD and busy < workers:
                found = next(source, None)
                if found is None:
                    exhausted = True
                elif isinstance(found, FileToParse) and _needs_child(found):
                    child = _fresh(idle) or ParserProcess(limits)
                    waiting.append(_Begun(found, child))
                    busy += 1
                    child.ask(found.path, found.origin)
                else:
                    waiting.append(_Begun(found, None))
            if not waiting:
                return
            begun = waiting[0]
            match begun.found:
                case Refused():
                    yield ParsedItem(begun.found, None)
                case FileToParse() if begun.child is None:
                    for item in parse_file(begun.found.path, begun.found.origin, limits):
                        yield ParsedItem(item, begun.found)
                case FileToParse():
                    for item in begun.child.items(begun.found.origin):
                        yield ParsedItem(item, begun.found)
                    busy -= 1
                    idle.append(begun.child)
            waiting.popleft()
    finally:
        for begun in waiting:
            if begun.child is not None:
                begun.child.close()
        for child in idle:
            child.close()


@dataclass(frozen=True, slots=True)
class _Begun:
    found: FileToParse | Refused
    child: ParserProcess | None


def _needs_child(file: FileToParse) -> bool:
    kind = kind_of_file(file.path)
    return kind is not None and kind.in_child


def _fresh(idle: list[ParserProcess]) -> ParserProcess | None:
    """Return an idle child that can take another file; unusable ones are ended."""
    while idle:
        child = idle.pop()
        if child.usable:
            return child
        child.close()
    return None
