"""One .txt or .md file to one Document."""

from __future__ import annotations

import codecs
from pathlib import Path
from stat import S_ISREG

from data.documents import Document
from data.refused import Refused, shown

MAX_FILE_BYTES = 50_000_000
"""The largest text file that is read into memory."""

TEXT_SUFFIXES = (".txt", ".md")


def is_text_file(path: Path) -> bool:
    """Whether the name says .txt or .md, in any case."""
    return path.suffix.lower() in TEXT_SUFFIXES


def read_text_file(path: Path, document_id: str, max_bytes: int = MAX_FILE_BYTES) -> Document | Refused:
    """The file as a Document, or why it was refused (with the byte where it goes wrong). Never raises for the file.

    UTF-8 with or without a byte order mark, or UTF-16 with one. Line ends become ``\\n``. In a .md file a first line
    ``# Title`` becomes the title, and it and the blank lines after it leave the text. Otherwise the title is empty:
    a file's name is not something its author wrote to be searched (scan_0001), and it is in the id anyway.
    """
    where = shown(path)
    try:
        document_id.encode()
    except UnicodeEncodeError:
        return Refused(where, "its name is not UTF-8, and a document needs an id that is: rename it")
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            return Refused(where, "not a regular file (a pipe, a device or a folder)")
        if status.st_size > max_bytes:
            return Refused(
                where, f"{status.st_size:,} bytes are more than the {max_bytes:,} one document may have: split it"
            )
        raw = path.read_bytes()
    except OSError as error:
        return Refused(where, f"cannot be read ({error.strerror})")
    if not raw:
        return Refused(where, "the file is empty")
    try:
        text = _decoded(raw)
    except ValueError as error:
        return Refused(where, str(error))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    title = ""
    if path.suffix.lower() == ".md":
        first, _, rest = text.partition("\n")
        if first.startswith("# ") and first[2:].strip():
            title, text = first[2:].strip(), rest
        text = text.lstrip("\n")
    text = text.rstrip()
    if not text.strip():
        return Refused(where, "it has a title but no text" if title else "it holds only white space")
    return Document(id=document_id, title=title, text=text)


def _decoded(raw: bytes) -> str:
    """The text; raises ValueError saying at which byte it is none."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            text = raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ValueError(f"it starts like UTF-16 but is not at byte {error.start}: convert it to UTF-8") from None
        if "\0" in text:
            raise ValueError(f"it looks binary, not text (a NUL character at character {text.index(chr(0))})")
        return text
    if (nul := raw.find(b"\0")) >= 0:
        raise ValueError(f"it looks binary, not text (byte {nul} is NUL)")
    skipped = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        return raw[skipped:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + skipped
        raise ValueError(
            f"not UTF-8 at byte {at} (0x{raw[at]:02x}): convert it, for example with iconv -f WINDOWS-1252 -t UTF-8"
        ) from None
