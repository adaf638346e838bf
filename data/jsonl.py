"""Read JSON Lines one line at a time, plain or compressed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from data.fields import kind_of
from data.refused import Refused, part, shown

MAX_LINE_BYTES = 50_000_000
"""Maximum length of a line in bytes, after decompression."""

JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.bz2")


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One object of a file. number: number of its line, from 1. where: ``path:number``."""

    number: int
    where: str
    fields: dict[str, object]


def read_jsonl(
    path: Path, max_line_bytes: int = MAX_LINE_BYTES, *, nan_is_null: bool = False
) -> Iterator[JsonLine | Refused]:
    """Yield the object of each line, or a Refused for each bad line. Errors in the file's content are never raised.

    The file is UTF-8, with or without a byte order mark. Blank lines are skipped. If reading fails (damaged
    compression, a bad disk), the last item says at which line. A file without any line is refused.

    max_line_bytes: maximum length of a line. Longer lines are refused and not kept in memory. nan_is_null: whether to
    treat NaN as null; NaN is not JSON, but Python writes it for missing values of data frames.
    """
    try:
        with _opened(path) as file:
            yield from json_lines(file, shown(path), max_line_bytes, nan_is_null=nan_is_null)
    except OSError as error:
        yield _ended(shown(path), 0, error)


def json_lines(
    file: IO[bytes] | gzip.GzipFile | bz2.BZ2File,
    name: str,
    max_line_bytes: int = MAX_LINE_BYTES,
    *,
    nan_is_null: bool = False,
) -> Iterator[JsonLine | Refused]:
    """Yield the objects of an open file; see ``read_jsonl``. name: display name of the file."""
    number = 0
    offset = 0
    empty = True
    try:
        while raw := file.readline(max_line_bytes + 1):
            number += 1
            if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                yield Refused(name, "it is UTF-16, JSON Lines must be UTF-8: convert it")
                return
            where = f"{name}:{number}"
            start = offset
            offset += len(raw)
            if len(raw) > max_line_bytes and not raw.endswith(b"\n"):
                del raw
                offset += _skip_line(file)
                empty = False
                yield part(where, f"the line is longer than {max_line_bytes:,} bytes: split the document")
                continue
            if number == 1 and raw.startswith(codecs.BOM_UTF8):
                raw = raw[len(codecs.BOM_UTF8) :]
                start += len(codecs.BOM_UTF8)
            if not raw.strip():
                continue
            empty = False
            yield _parsed(raw, number, where, start, _nan_as_null if nan_is_null else _refuse_constant)
    except (OSError, EOFError, zlib.error) as error:
        yield _ended(name, number, error)
        return
    if empty:
        yield Refused(name, "the file is empty")


def _ended(name: str, number: int, error: Exception) -> Refused:
    reason = getattr(error, "strerror", None) or str(error)
    return part(f"{name}:{number + 1}", f"cannot be read from here on ({reason}): the rest of the file is missing")


def _opened(path: Path) -> IO[bytes] | gzip.GzipFile | bz2.BZ2File:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path, "rb")
        case ".bz2":
            return bz2.open(path, "rb")
        case _:
            return path.open("rb")


def _skip_line(file: IO[bytes] | gzip.GzipFile | bz2.BZ2File) -> int:
    """Skip the rest of the line in small pieces, and return the number of bytes skipped."""
    skipped = 0
    while piece := file.readline(1 << 20):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _parsed(raw: bytes, number: int, where: str, offset: int, constant: Callable[[str], None]) -> JsonLine | Refused:
    """Parse one line. offset: offset of the line in the decompressed file, in bytes. constant: called for NaN etc."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=constant)
    except UnicodeDecodeError as error:
        return part(where, f"not UTF-8 at byte {offset + error.start} of the file: convert it to UTF-8")
    except json.JSONDecodeError as error:
        return part(where, f"not JSON: {error.msg} at column {error.colno}")
    except RecursionError:
        return part(where, "not usable JSON: nested too deeply")
    except ValueError as error:  # a constant outside JSON, or a number with more digits than Python converts
        return part(where, f"not usable JSON: {error}")
    if not isinstance(value, dict):
        return part(where, f"the line is {kind_of(value)}, it must be an object such as {{...}}")
    return JsonLine(number, where, value)


def _nan_as_null(name: str) -> None:
    if name != "NaN":
        _refuse_constant(name)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
