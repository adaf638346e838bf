"""Parse .zip files. Members are unpacked in memory, with a size limit, and parsed by their own parsers."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.refused import Refused, printable

MemberParser = Callable[[IO[bytes], Origin, ParsingLimits], Iterator[Item]]
"""A function that parses a member by its file extension and yields its documents, or raises ParseError.

It is not called for nested archives.
"""

_ENCRYPTED = 0x1
_BLOCK_BYTES = 1 << 20


@dataclass(slots=True)
class _UnpackBudget:
    """Numbers of bytes and members that may still be unpacked from a file, including nested archives."""

    bytes: int
    members: int


def parse_zip(file: IO[bytes], origin: Origin, limits: ParsingLimits, parse_member: MemberParser) -> Iterator[Item]:
    """Yield the documents of every member in directory order, with the name ``archive.zip/member``.

    The metadata ``member`` is the path within the innermost archive. Directories and hidden members (``.x``,
    ``__MACOSX``) are skipped. Raises ParseError if the file is not a zip, is empty, or unpacks to more than the limits
    allow.
    """
    yield from _parse_archive(file, origin, limits, parse_member, _UnpackBudget(limits.expanded_bytes, limits.members))


def _parse_archive(
    file: IO[bytes], origin: Origin, limits: ParsingLimits, parse_member: MemberParser, budget: _UnpackBudget
) -> Iterator[Item]:
    if origin.depth >= limits.depth:
        raise ParseError(f"the limit is {limits.depth} nested zip files: unpack it")
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise ParseError(f"not a zip file, or damaged ({one_line(str(error), 100)})") from None
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir() and not _hidden(member.filename)]
        budget.members -= len(members)
        if budget.members < 0:
            raise ParseError(f"more than {limits.members:,} members: possibly a zip bomb; otherwise unpack it first")
        if not members:
            raise ParseError("the archive is empty")
        for member in members:
            where = f"{origin.where}/{_printable_name(member.filename)}"
            if reason := _refusal_reason(member):
                yield Refused(where, reason)
                continue
            inner = Origin(
                where,
                f"{origin.document_id}/{printable(member.filename)}",
                origin.inside("member", printable(member.filename)),
                origin.depth + 1,
            )
            try:
                content = io.BytesIO(_unpack(archive, member, limits, budget))
                if member.filename.lower().endswith(".zip"):
                    yield from _parse_archive(content, inner, limits, parse_member, budget)
                else:
                    for item in parse_member(content, inner, limits):
                        # Omit line numbers, which refer to the member and not to the archive.
                        yield item.document if isinstance(item, NumberedDocument) else item
            except ParseError as error:
                if budget.bytes < 0 or budget.members < 0:
                    raise
                yield Refused(where, str(error))


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: ParsingLimits, budget: _UnpackBudget) -> bytes:
    """Return the content of a member. Its bytes are counted, because the size in its header may be wrong."""
    blocks: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as stream:
            while block := stream.read(_BLOCK_BYTES):
                size += len(block)
                budget.bytes -= len(block)
                if budget.bytes < 0:
                    raise ParseError(
                        f"it unpacks to more than {limits.expanded_bytes:,} bytes: possibly a zip bomb; otherwise "
                        "unpack it first"
                    )
                if size > limits.file_bytes:
                    raise ParseError(f"it unpacks to more than the {limits.file_bytes:,} bytes allowed for a member")
                blocks.append(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ParseError(f"cannot be unpacked ({one_line(str(error), 100)})") from None
    return b"".join(blocks)


def _refusal_reason(member: zipfile.ZipInfo) -> str:
    """Return why a member is not read, "" if it is."""
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        return "its name points outside the archive (path traversal)"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted and needs a password: create the archive without one"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "it is a symbolic link; links in archives are not followed"
    return ""


def _hidden(name: str) -> bool:
    parts = [part for part in name.replace("\\", "/").split("/") if part]
    return not parts or any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)


def _printable_name(name: str) -> str:
    return printable(name.encode("utf-8", "backslashreplace").decode())
