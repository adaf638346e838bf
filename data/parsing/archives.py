"""A .zip file to the documents of its members. Nothing is ever written to disk; what may be unpacked is counted."""

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
"""Documents of one member by the kind that its name says; raises ParseError. Not called for archives."""

_ENCRYPTED = 0x1
_PIECE = 1 << 20


@dataclass(slots=True)
class _Budget:
    """What all archives of one file together may still unpack."""

    bytes: int
    members: int


def parse_zip(file: IO[bytes], origin: Origin, limits: ParsingLimits, parse_member: MemberParser) -> Iterator[Item]:
    """The documents of every member, in the order of the directory, called ``archive.zip/member``; metadata: member,
    the path within the (innermost) archive. Folders and hidden members (``.x``, ``__MACOSX``) are passed over as they
    are in folders. Raises ParseError when it is no zip, when it unpacks to more than the limits, when it is empty."""
    yield from _archive(file, origin, limits, parse_member, _Budget(limits.expanded_bytes, limits.members))


def _archive(
    file: IO[bytes], origin: Origin, limits: ParsingLimits, parse_member: MemberParser, budget: _Budget
) -> Iterator[Item]:
    if origin.depth >= limits.depth:
        raise ParseError(f"zips may be nested {limits.depth} deep here: unpack it")
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise ParseError(f"not a zip, or a damaged one ({one_line(str(error), 100)})") from None
    with archive:
        members = [member for member in archive.infolist() if not member.is_dir() and not _hidden(member.filename)]
        budget.members -= len(members)
        if budget.members < 0:
            raise ParseError(f"more than {limits.members:,} members: a bomb, or unpack it")
        if not members:
            raise ParseError("there is nothing in it")
        for member in members:
            where = f"{origin.where}/{_shown(member.filename)}"
            if reason := _unfit(member):
                yield Refused(where, reason)
                continue
            inner = Origin(
                where,
                f"{origin.document_id}/{printable(member.filename)}",
                origin.inside("member", printable(member.filename)),
                origin.depth + 1,
            )
            try:
                content = io.BytesIO(_unpacked(archive, member, limits, budget))
                if member.filename.lower().endswith(".zip"):
                    yield from _archive(content, inner, limits, parse_member, budget)
                else:
                    for item in parse_member(content, inner, limits):
                        # A line of a member says nothing of the archive.
                        yield item.document if isinstance(item, NumberedDocument) else item
            except ParseError as error:
                if budget.bytes < 0 or budget.members < 0:
                    raise
                yield Refused(where, str(error))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: ParsingLimits, budget: _Budget) -> bytes:
    """The bytes of a member, counted as they come: the size it declares may be a lie."""
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                budget.bytes -= len(piece)
                if budget.bytes < 0:
                    raise ParseError(f"it unpacks to more than {limits.expanded_bytes:,} bytes: a bomb, or unpack it")
                if size > limits.file_bytes:
                    raise ParseError(f"it unpacks to more than the {limits.file_bytes:,} bytes a member may have")
                pieces.append(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ParseError(f"cannot be unpacked ({one_line(str(error), 100)})") from None
    return b"".join(pieces)


def _unfit(member: zipfile.ZipInfo) -> str:
    """Why a member is not read; empty when it is."""
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        return "its name leads out of the archive, which no honest archive's does"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted and needs a password: pack it without one"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a symbolic link, which is not followed within an archive"
    return ""


def _hidden(name: str) -> bool:
    parts = [part for part in name.replace("\\", "/").split("/") if part]
    return not parts or any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)


def _shown(name: str) -> str:
    return printable(name.encode("utf-8", "backslashreplace").decode())
