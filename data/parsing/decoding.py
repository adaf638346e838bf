"""Decode bytes to text by a byte order mark, as UTF-8, or with a detected encoding, in this order."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from data.parsing.errors import ParseError

DETECTABLE: Mapping[str, str] = MappingProxyType(
    {
        **{f"cp125{n}": f"windows-125{n}" for n in range(9)},
        **{f"iso8859-{n}": f"iso-8859-{n}" for n in (2, 5, 6, 7, 8, 9, 15)},
        "cp866": "ibm866",
        "cp874": "windows-874",
        "koi8-r": "koi8-r",
        "koi8-u": "koi8-u",
        "mac-cyrillic": "x-mac-cyrillic",
        "gb18030": "gb18030",
        "big5hkscs": "big5",
        "cp932": "shift_jis",
        "euc_jis_2004": "euc-jp",
        "iso2022_jp_2": "iso-2022-jp",
        "cp949": "euc-kr",
    }
)
"""Names in the WHATWG Encoding Standard of the Python codecs that are detected in text without a declaration.

Other encodings (DOS, EBCDIC, Macintosh) are so rare that a match in a short text is usually a false positive.
"""

_WESTERN = "cp1252"
_LATIN = frozenset(("cp1250", "cp1254", "cp1257", "cp1258", "iso8859-2", "iso8859-9", "iso8859-15"))
_MIN_LETTERS = 4
_SAMPLE_BYTES = 200_000
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_NOT_TEXT = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ENCODED_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DecodedText:
    r"""Decoded text.

    text: the text, with line ends ``\n`` and without byte order mark and NUL.
    encoding: name of the encoding if it was detected; "" if it was declared or is UTF-8.
    """

    text: str
    encoding: str = ""

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Metadata of the document, which records a detected encoding."""
        return (("encoding", self.encoding),) if self.encoding else ()


def decode(raw: bytes) -> DecodedText:
    """Decode a file. Raises ParseError, with the position of the first invalid byte, if that is impossible.

    Characters are not normalised, so that offsets refer to the original text.
    """
    encoding = encoding_of(raw)
    skipped = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        text = raw[skipped:].decode(encoding)
    except UnicodeDecodeError as error:  # encoding_of checks only a sample of a file that is not UTF-8.
        if encoding == "utf-16":
            raise ParseError(f"it starts as UTF-16 but is invalid at byte {error.start}: convert it to UTF-8") from None
        raise ParseError(
            f"it looks like {DETECTABLE[encoding]} but is invalid at byte {error.start}: convert it, for example with "
            "iconv -f ENCODING -t UTF-8"
        ) from None
    if "\0" in text:
        raise ParseError(f"it looks binary, not text (a NUL character at character {text.index(chr(0))})")
    return DecodedText(unix_lines(text), DETECTABLE.get(encoding, ""))


def encoding_of(raw: bytes) -> str:
    """Return the Python codec of a text: utf-16 by its byte order mark, utf-8, or a key of ``DETECTABLE``.

    Raises ParseError if no encoding is recognised. UTF-8 with a few damaged bytes is also refused, because another
    encoding would make every other non-ASCII character wrong.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if (nul := raw.find(b"\0")) >= 0:
        raise ParseError(f"it looks binary, not text (byte {nul} is NUL)")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        found = "" if _is_damaged_utf8(raw, error) else _detect(raw)
        if not found:
            position = error.start
            raise ParseError(
                f"not UTF-8 at byte {position} (0x{raw[position]:02x}), and its encoding is not recognised: convert it "
                "to UTF-8, for example with iconv -f ENCODING -t UTF-8"
            ) from None
        return found
    if _ISO_2022_JP.search(raw) and _can_decode(raw, "iso2022_jp_2"):
        return "iso2022_jp_2"
    return "utf-8"


def _is_damaged_utf8(raw: bytes, error: UnicodeDecodeError) -> bool:
    """Return whether the bytes are binary, or UTF-8 with a few invalid bytes."""
    if raw.startswith(codecs.BOM_UTF8) or _NOT_TEXT.search(raw) or _ENCODED_SURROGATE.search(raw):
        return True
    if error.reason == "unexpected end of data" and error.end - error.start > 1:  # cut within a character
        return True
    valid = len(re.findall(r"[^\x00-\x7f]", raw.decode("utf-8", "ignore")))
    invalid = raw.decode("utf-8", "replace").count("\ufffd")
    return valid > invalid


def _detect(raw: bytes) -> str:
    """Return the codec that chardet detects, or "" if the decoded letters are implausible."""
    import chardet  # Imported here because its models take memory that most collections do not need.

    sample = _sample(raw)
    western = _decode_or_none(sample, _WESTERN)
    if western is not None and not any(map(str.isalpha, _non_ascii(western).replace("µ", ""))):
        return _WESTERN  # Only signs such as quotation marks and currencies, on which most code pages agree.
    detected = chardet.detect(sample, max_bytes=_SAMPLE_BYTES, compat_names=False, include_encodings=DETECTABLE)
    name = detected["encoding"] or ""
    if western is not None and name in _LATIN and len(_non_ascii(western)) < _MIN_LETTERS:
        return _WESTERN  # Too few letters to distinguish the code pages of the Latin script.
    text = _decode_or_none(sample, name) if name in DETECTABLE else None
    if text is None:
        return ""
    non_ascii = _non_ascii(text)
    plausible = sum(unicodedata.category(character)[0] in "LMP" for character in non_ascii)
    letters = any(map(str.isalpha, non_ascii))
    return name if name == _WESTERN or (letters and plausible >= 0.8 * len(non_ascii)) else ""


def _sample(raw: bytes) -> bytes:
    """Return a sample of the lines that are not ASCII, because ASCII lines do not distinguish encodings.

    A file of at most ``_SAMPLE_BYTES`` bytes is returned completely.
    """
    if len(raw) <= _SAMPLE_BYTES:
        return raw
    lines: list[bytes] = []
    size = 0
    for line in raw.split(b"\n"):
        if not line.isascii():
            lines.append(line)
            size += len(line) + 1
            if size >= _SAMPLE_BYTES:
                break
    return b"\n".join(lines)[: 2 * _SAMPLE_BYTES] if size < 2 * _SAMPLE_BYTES else lines[-1][:_SAMPLE_BYTES]


def _non_ascii(text: str) -> str:
    return re.sub(r"[\x00-\x7f]+", "", text)


def _decode_or_none(raw: bytes, codec: str) -> str | None:
    """Decode the bytes. Returns None if they are invalid in this encoding. An incomplete last character is ignored."""
    try:
        return codecs.getincrementaldecoder(codec)().decode(raw, final=False)
    except UnicodeDecodeError:
        return None


def _can_decode(raw: bytes, codec: str) -> bool:
    try:
        raw.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def unix_lines(text: str) -> str:
    r"""Convert every line end to ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def storable_text(text: str) -> str:
    r"""Return text that a database can store: without NUL and unpaired surrogates, with line ends ``\n``."""
    return _SURROGATE.sub("\ufffd", unix_lines(text).replace("\0", ""))


def one_line(text: str, limit: int = 1000) -> str:
    """Return a title or metadata value as storable text of at most ``limit`` characters, with single spaces."""
    return " ".join(storable_text(text[: 4 * limit]).split())[:limit].rstrip()
