"""Check zipped office files before a library opens them: unpacked size, entities and passwords."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import IO
from xml.parsers import expat

from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_xml import MAX_TOKEN_BYTES
from data.parsing.plain_text import read_limited

_BLOCK_BYTES = 1 << 16
_XML = (".xml", ".rels", ".vml", ".opf", ".ncx")


def checked_office_file(file: IO[bytes], limits: ParsingLimits, needed: str, kind: str) -> io.BytesIO:
    """Return the entire file in memory after checks that make it safe for a library.

    needed: name of a member that every file of this kind has.
    kind: extension for messages, such as ".pptx".

    Raises ParseError if the file is damaged, is encrypted, or unpacks to more than ``limits.file_bytes``. The declared
    sizes suffice for this check, because zipfile never returns more of a member than its directory declares. A part
    with a document type declaration is also refused, because its entities could expand without bound.
    """
    content = io.BytesIO(read_limited(file, limits.file_bytes))
    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
            names = {member.filename for member in members}
            if "EncryptionInfo" in names or "EncryptedPackage" in names or any(m.flag_bits & 1 for m in members):
                raise ParseError("it is encrypted and needs a password: save it without one")
            if needed not in names:
                raise ParseError(f"it is a zip file without {needed}, not a {kind} file")
            if len(members) > limits.members:
                raise ParseError(f"more than {limits.members:,} members: possibly a zip bomb")
            if sum(member.file_size for member in members) > limits.file_bytes:
                raise ParseError(
                    f"its parts unpack to more than {limits.file_bytes:,} bytes: possibly a zip bomb; otherwise "
                    "split it"
                )
            for member in members:
                if member.filename.lower().endswith(_XML):
                    _check_prolog(archive, member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ParseError(
            f"not a {kind} file, or damaged ({one_line(str(error), 100)}); a file of an older format or with a "
            f"password must be saved as a plain {kind}"
        ) from None
    content.seek(0)
    return content


def _check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise ParseError for a document type declaration. The library reports other errors in the XML."""

    def refuse(*_: object) -> None:
        raise ParseError(f"{member.filename} has a document type declaration: its entities could expand without bound")

    started: list[str] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda name, _: started.append(name)
    try:
        with archive.open(member) as part:
            fed = 0
            while not started and (block := part.read(_BLOCK_BYTES)):
                fed += len(block)
                if fed > MAX_TOKEN_BYTES:
                    raise ParseError(f"{member.filename} has no element in its first {MAX_TOKEN_BYTES >> 20} MiB")
                parser.Parse(block, False)
    except expat.ExpatError:
        return
