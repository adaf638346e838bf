"""Checks of zipped office files before a library opens them: how much they unpack to, entities, passwords."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO
from xml.parsers import expat

from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_xml import LONGEST_TOKEN
from data.parsing.plain_text import read_whole

_PIECE = 1 << 16
_XML = (".xml", ".rels", ".vml", ".opf", ".ncx")


def checked_office_file(file: IO[bytes], limits: ParsingLimits, needed: str, kind: str) -> io.BytesIO:
    """The whole file in memory, safe to give to a library.

    needed: a member that files of this kind have. kind: for messages, such as ".pptx". The parts together may unpack to
    ``limits.file_bytes``: zipfile never gives more of a member than its directory declares. Raises ParseError, also for
    a part with a document type declaration, which could expand without end.
    """
    content = io.BytesIO(read_whole(file, limits.file_bytes))
    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
            names = {member.filename for member in members}
            if "EncryptionInfo" in names or "EncryptedPackage" in names or any(m.flag_bits & 1 for m in members):
                raise ParseError("it is encrypted and needs a password: save it without one")
            if needed not in names:
                raise ParseError(f"it is a zip without {needed}, not a {kind} file")
            if len(members) > limits.members:
                raise ParseError(f"more than {limits.members:,} members: a bomb")
            if sum(member.file_size for member in members) > limits.file_bytes:
                raise ParseError(f"its parts unpack to more than {limits.file_bytes:,} bytes: a bomb, or split it")
            for member in members:
                if member.filename.lower().endswith(_XML):
                    _check_prolog(archive, member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ParseError(
            f"not a {kind} file, or a damaged one ({one_line(str(error), 100)}); a file of an older format or with a "
            f"password must be saved as a plain {kind}"
        ) from None
    content.seek(0)
    return content


def _check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise ParseError for a document type declaration; what is not well-formed is the library's to say."""

    def refuse(*_: object) -> None:
        raise ParseError(f"{member.filename} has a document type declaration: it could expand without end")

    begun: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: begun.append(name)
    try:
        with archive.open(member) as part:
            fed = 0
            while not begun and (piece := part.read(_PIECE)):
                fed += len(piece)
                if fed > LONGEST_TOKEN:
                    raise ParseError(f"{member.filename} has no element in its first {LONGEST_TOKEN >> 20} MiB")
                parser.Parse(piece, False)
    except expat.ExpatError:
        return
