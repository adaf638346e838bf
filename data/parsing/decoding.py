"""Bytes to text, once: byte order mark, then UTF-8, then Windows-1252 with a note. Knows no format."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from data.parsing.errors import ParseError

GUESSED = "windows-1252"
"""The encoding taken for text that is not UTF-8: what most old files of western languages are in."""

_NOT_TEXT = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """text: line ends are ``\\n``, no byte order mark, no NUL. encoding: its name if it was guessed, else empty."""

    text: str
    encoding: str = ""

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What a document should say of its encoding."""
        return (("encoding", self.encoding),) if self.encoding else ()


def decode(raw: bytes) -> Decoded:
    """The text of a file. Raises ParseError saying at which byte it is none.

    Characters are not composed or otherwise changed (no NFC): offsets count what the author wrote.
    """
    encoding = encoding_of(raw)
    skipped = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        text = raw[skipped:].decode(encoding)
    except UnicodeDecodeError as error:  # UTF-16 only: encoding_of has looked at the others
        raise ParseError(f"it starts like UTF-16 but is not at byte {error.start}: convert it to UTF-8") from None
    if "\0" in text:
        raise ParseError(f"it looks binary, not text (a NUL character at character {text.index(chr(0))})")
    return Decoded(unix_lines(text), GUESSED if encoding == GUESSED else "")


def encoding_of(raw: bytes) -> str:
    """The encoding of a whole text: utf-16 by its mark, utf-8, or Windows-1252. Raises ParseError where it is none.

    UTF-8 that is damaged in a few places is not taken for Windows-1252, which makes nonsense of all other letters.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if (nul := raw.find(b"\0")) >= 0:
        raise ParseError(f"it looks binary, not text (byte {nul} is NUL)")
    try:
        raw.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        if not _could_be_windows_1252(raw, error):
            at = error.start
            raise ParseError(
                f"not UTF-8 at byte {at} (0x{raw[at]:02x}), nor Windows-1252: convert it, for example with "
                "iconv -f ENCODING -t UTF-8"
            ) from None
        return GUESSED


def _could_be_windows_1252(raw: bytes, error: UnicodeDecodeError) -> bool:
    if _NOT_TEXT.search(raw) or _ENCODED_SURROGATE.search(raw):
        return False
    if error.reason == "unexpected end of data" and error.end - error.start > 1:  # cut within a character
        return False
    try:
        raw.decode(GUESSED)
    except UnicodeDecodeError:
        return False
    right = len(re.findall(r"[^\x00-\x7f]", raw.decode("utf-8", "ignore")))
    wrong = raw.decode("utf-8", "replace").count("\ufffd")
    return right <= wrong


def unix_lines(text: str) -> str:
    """Every line end as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def made_sound(text: str) -> str:
    """Extracted text as a database can take it: no NUL, no half of a surrogate pair, line ends as ``\\n``."""
    return _SURROGATE.sub("\ufffd", unix_lines(text).replace("\0", ""))


def one_line(text: str, limit: int = 1000) -> str:
    """A title or a value of metadata: sound, white space as single spaces, at most ``limit`` characters."""
    return " ".join(made_sound(text[: 4 * limit]).split())[:limit].rstrip()
