"""Parse many files concurrently with the workers of an executor, and yield their documents in input order.

Files are sent as bytes, so that workers need no access to the folder. Each worker parses in a child process with the
same limits as on a single machine.
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

MAX_SENT_BYTES = 32 << 20
"""Largest file in bytes that is sent to a worker. Larger files, archives and tables are parsed on this machine, because
their documents would fill a worker's memory.
"""


class FileBytes(NamedTuple):
    """A file to parse in a worker. name: name of the file without folder, which determines its kind."""

    name: str
    content: bytes
    origin: Origin


class FileParser:
    """A function that runs in a worker and parses files in a child process, which is replaced when it dies."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._limits = limits
        self._children: list[ParserProcess] = []
        self._folder = tempfile.TemporaryDirectory(prefix="plumbline-parse-")
        # End the child and the folder with this object, also if the interpreter is shutting down.
        self.close = weakref.finalize(self, _end_children, self._children, self._folder)

    def __call__(self, file: FileBytes) -> tuple[Item, ...]:
        """Return all items of the file. Raises DataError if no child process can be started."""
        if self._children and not self._children[0].usable:
            self._children.pop().close()
        if not self._children:
            self._children.append(ParserProcess(self._limits))
        path = Path(self._folder.name) / file.name
        path.write_bytes(file.content)
        try:
            self._children[0].send_file(path, file.origin)
            return tuple(self._children[0].items(file.origin))
        finally:
            path.unlink()


def _end_children(children: list[ParserProcess], folder: tempfile.TemporaryDirectory[str]) -> None:
    for child in children:
        child.close()
    folder.cleanup()


ParserWorkers = BlockWorkers[FileBytes, tuple[Item, ...]]


@dataclass(frozen=True, slots=True)
class _PendingFile:
    """A file whose items are pending. result_future: result of a worker; None if the file is parsed on this machine."""

    file: FileToParse | Refused
    result_future: Future[tuple[Item, ...]] | None


def parse_files_on(
    parsers: ParserWorkers, files: Iterable[FileToParse | Refused], limits: ParsingLimits, workers: int = 1
) -> Generator[ParsedItem, None, None]:
    """Yield the items of ``parse_files`` in the same order, with workers that run a FileParser.

    Up to ``parsers.ahead`` files are sent to workers ahead of the consumer. workers: number of child processes on this
    machine, for files that are not sent. Raises what ``parse_files`` raises, and WorkerError if a worker fails.
    """
    source = iter(files)
    waiting: deque[_PendingFile] = deque()
    sent_count = 0
    exhausted = False
    while True:
        while not exhausted and sent_count < parsers.ahead and len(waiting) < 2 * parsers.ahead:
            file = next(source, None)
            if file is None:
                exhausted = True
                break
            block = None if isinstance(file, Refused) else _file_bytes(file)
            waiting.append(_PendingFile(file, None if block is None else parsers.submit(block)))
            sent_count += block is not None
        if not waiting:
            return
        local_files: list[FileToParse | Refused] = []
        while waiting and waiting[0].result_future is None:
            local_files.append(waiting.popleft().file)
        if local_files:
            with closing(parse_files(local_files, limits, workers)) as parsed:
                yield from parsed
        elif (pending := waiting.popleft()).result_future is not None:
            items = pending.result_future.result()
            sent_count -= 1
            for item in items:
                yield ParsedItem(item, pending.file if isinstance(pending.file, FileToParse) else None)


def _file_bytes(file: FileToParse) -> FileBytes | None:
    """Return the file as bytes, or None if it must be parsed on this machine.

    An unreadable file is also parsed on this machine, which reports the error.
    """
    kind = kind_of_file(file.path)
    if kind is None or not kind.in_child or kind.streamed or kind.archive:
        return None
    try:
        before = file.path.stat()
        if not 0 < before.st_size <= MAX_SENT_BYTES or not file.path.is_file():
            return None
        content = file.path.read_bytes()
        after = file.path.stat()
    except OSError:
        return None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):  # the file is being written
        return None
    return FileBytes(file.path.name, content, file.origin)
