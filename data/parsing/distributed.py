"""Parses many files with the workers of an executor, several at once, and yields their documents in input order.

A file travels as bytes, so that workers need no access to the folder. Each worker parses in a child process with the
same limits as on one machine.
"""

from __future__ import annotations

import tempfile
import weakref
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from data.block_work import BlockWorkers
from data.parsing.file_kinds import kind_of_file
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, Origin
from data.parsing.pool import FileToParse, ParsedItem, parse_files
from data.parsing.process import ParserProcess
from data.refused import Refused

MOST_BYTES = 32 << 20
"""Larger files are parsed on this machine, as are archives and tables: their documents would fill a worker's memory."""


class FileBytes(NamedTuple):
    """A file to parse. name: its own, which tells its kind."""

    name: str
    content: bytes
    origin: Origin


class FileParser:
    """A worker's part: parses one file after another in a child process, which is replaced when it dies."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits
        self._children: list[ParserProcess] = []
        self._folder = tempfile.TemporaryDirectory(prefix="plumbline-parse-")
        # What it started ends with it, in whatever order the interpreter takes things down.
        self.close = weakref.finalize(self, _end, self._children, self._folder)

    def __call__(self, file: FileBytes) -> tuple[Item, ...]:
        """All items of the file. Raises DataError if no child can be started."""
        if self._children and not self._children[0].usable:
            self._children.pop().close()
        if not self._children:
            self._children.append(ParserProcess(self._limits))
        path = Path(self._folder.name) / file.name
        path.write_bytes(file.content)
        try:
            self._children[0].ask(path, file.origin)
            return tuple(self._children[0].items(file.origin))
        finally:
            path.unlink()


def _end(children: list[ParserProcess], folder: tempfile.TemporaryDirectory[str]) -> None:
    for child in children:
        child.close()
    folder.cleanup()


ParserWorkers = BlockWorkers[FileBytes, tuple[Item, ...]]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A file that is parsed by a worker, or will be parsed here."""

    found: FileToParse | Refused
    elsewhere: Future[tuple[Item, ...]] | None


def parse_files_on(
    parsers: ParserWorkers, files: Iterable[FileToParse | Refused], limits: ParsingLimits, workers: int = 1
) -> Generator[ParsedItem, None, None]:
    """``parse_files`` with workers of FileParsers: the same items in the same order.

    Up to ``parsers.ahead`` files are read and parsed before their turn. workers: children on this machine, for what is
    not sent. Raises as ``parse_files`` does, and WorkerError.
    """
    source = iter(files)
    waiting: deque[_Begun] = deque()
    sent = 0
    exhausted = False
    while True:
        while not exhausted and sent < parsers.ahead and len(waiting) < 2 * parsers.ahead:
            found = next(source, None)
            if found is None:
                exhausted = True
                break
            block = None if isinstance(found, Refused) else _portable(found)
            waiting.append(_Begun(found, None if block is None else parsers.submit(block)))
            sent += block is not None
        if not waiting:
            return
        here: list[FileToParse | Refused] = []
        while waiting and waiting[0].elsewhere is None:
            here.append(waiting.popleft().found)
        if here:
            with closing(parse_files(here, limits, workers)) as parsed:
                yield from parsed
        elif (begun := waiting.popleft()).elsewhere is not None:
            items = begun.elsewhere.result()
            sent -= 1
            for item in items:
                yield ParsedItem(item, begun.found if isinstance(begun.found, FileToParse) else None)


def _portable(file: FileToParse) -> FileBytes | None:
    """The file's bytes; None if it is to be parsed on this machine, which also reports a file that cannot be read."""
    kind = kind_of_file(file.path)
    if kind is None or not kind.in_child or kind.streamed or kind.archive:
        return None
    try:
        before = file.path.stat()
        if not 0 < before.st_size <= MOST_BYTES or not file.path.is_file():
            return None
        content = file.path.read_bytes()
        after = file.path.stat()
    except OSError:
        return None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):  # it is being written
        return None
    return FileBytes(file.path.name, content, file.origin)
