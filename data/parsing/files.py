"""Parse a file in this process: open it safely, call the parser of its kind, and report errors as refusals."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO

from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.file_kinds import SHOWN_KINDS, archive_parser_of, kind_of_file, parser_of
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.refused import RefusalLog, Refused, part

_MAX_REFUSALS = 20
CHANGED = "the file changed while it was read"


def parse_file(path: Path, origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Yield the documents and refusals of a file.

    A file whose size or modification time changes while it is read is refused, because the content may be a mixture of
    two versions. For streamed kinds, the change is reported after the documents, which have already been yielded.
    """
    kind = kind_of_file(path)
    if kind is None:
        yield Refused(origin.where, f"unsupported file type; supported are {SHOWN_KINDS}")
        return
    items = read_unchanged(path, origin, lambda file: _parse(file, origin, limits), streamed=kind.streamed)
    yield from _limit_items((_storable(item, origin) for item in items), origin, limits)


def read_unchanged(
    path: Path,
    origin: Origin,
    parse: Callable[[IO[bytes]], Iterator[Item]],
    *,
    streamed: bool,
) -> Iterator[Item]:
    """Yield the items of ``parse``, and a refusal for any error while the file is opened, read or parsed."""
    try:
        with _open_regular(path) as file:
            before = _state(file)
            if not before.size:
                yield Refused(origin.where, "the file is empty")
                return
            if streamed:
                yield from parse(file)
                if _state(file) != before:
                    yield Refused(origin.where, f"{CHANGED}: the documents read so far are kept; index it again")
                return
            items = list(parse(file))
            if _state(file) != before:
                items = [Refused(origin.where, f"{CHANGED}: index it again")]
            yield from items
    except ParseError as error:
        yield Refused(origin.where, str(error))
    except OSError as error:
        yield Refused(origin.where, f"cannot be read ({error.strerror or error})")
    except RecursionError:
        yield Refused(origin.where, "its content is nested too deeply")


def _limit_items(items: Iterator[Item], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Yield at most ``limits.rows`` items, and of identical refusals only the first few and the number of others."""
    log = RefusalLog(_MAX_REFUSALS)
    for number, item in enumerate(items):
        if number >= limits.rows:
            yield part(
                origin.where,
                f"it has more than the {limits.rows:,} rows allowed in a file: split it; the remaining rows were not "
                "read",
            )
            break
        if not isinstance(item, Refused) or log.add(item):
            yield item
    yield from log.overflow(origin.where)


def _parse(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    kind = kind_of_file(origin.document_id) or kind_of_file(origin.where)
    if kind is None:
        raise ParseError(f"unsupported file type; supported are {SHOWN_KINDS}")
    try:
        if kind.archive:
            yield from archive_parser_of(kind)(file, origin, limits, _parse)
        else:
            yield from parser_of(kind)(file, origin, limits)
    except (ParseError, OSError, RecursionError, MemoryError):
        raise
    except Exception as error:  # A third-party parser may raise anything for a damaged file.
        raise ParseError(f"cannot be parsed ({type(error).__name__}: {one_line(str(error), 200)})") from error


@dataclass(frozen=True, slots=True)
class _State:
    size: int
    modified_ns: int


def _state(file: IO[bytes]) -> _State:
    status = os.fstat(file.fileno())
    return _State(status.st_size, status.st_mtime_ns)


def _open_regular(path: Path) -> IO[bytes]:
    """Open a regular file. Raises ParseError for anything else, without blocking on a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ParseError("not a regular file (a pipe, a device or a folder)")
    return os.fdopen(descriptor, "rb")


def _storable(item: Item, origin: Origin) -> Item:
    """Return the item, or a refusal if it contains text that a database cannot store."""
    if isinstance(item, Refused):
        return item
    document = item.document if isinstance(item, NumberedDocument) else item
    parts = (part for pair in document.metadata for part in pair)
    try:
        "\0".join((document.id, document.title, document.text, *parts)).encode()
    except UnicodeEncodeError:
        reason = "its text or name cannot be encoded as UTF-8: rename or repair it"
        return Refused(origin.where, reason)
    return item
