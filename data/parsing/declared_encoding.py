"""Decode a web page with the encoding that it declares (labels of the WHATWG Encoding Standard)."""

from __future__ import annotations

import codecs
import re

import webencodings

from data.parsing.decoding import DecodedText, decode, unix_lines

# Codecs for labels that Python and browsers decode differently (https://encoding.spec.whatwg.org/#names-and-labels). If
# browsers decode a superset, its codec is used.
_CODECS = {
    "gbk": ("gb18030",),
    "big5": ("big5hkscs", "cp950"),
    "euc-jp": ("euc_jp", "euc_jis_2004"),
    "iso-2022-jp": ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2004"),
    "x-user-defined": ("cp1252",),
    "utf-16le": ("utf-8",),  # a page whose declaration can be read as ASCII is not UTF-16
    "utf-16be": ("utf-8",),
}
# Browsers do not decode these labels ("replacement"), but Python does.
_REPLACEMENT_CODECS = {"hz-gb-2312": ("hz",), "iso-2022-kr": ("iso2022_kr",), "csiso2022kr": ("iso2022_kr",)}
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{1,40})[\"']")
_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_RAW_TEXT = (b"script", b"style", b"title", b"textarea", b"noscript")
_SEARCHED_BYTES = 1 << 20
_MAX_WRONG_SHARE = 0.01


def decode_declared(raw: bytes) -> DecodedText:
    """Decode a page by its byte order mark, or else by its declaration, or else with ``decode``.

    A declaration in the first MiB is used, unless it is in a comment or script. It is ignored if more than 1 % of the
    characters are invalid in its encoding. Fewer invalid characters become U+FFFD. May raise ParseError, as ``decode``.
    """
    if raw.startswith(_MARKS):
        return decode(raw)
    for codec in _codecs(declared_label(raw)):
        text = raw.decode(codec, "replace")
        wrong = text.count("\ufffd")
        if not wrong or (codec != "utf-8" and wrong <= _MAX_WRONG_SHARE * len(text)):
            return DecodedText(unix_lines(text).replace("\0", ""))
    return decode(raw)


def declared_label(raw: bytes) -> str:
    """Return the encoding label of the XML declaration or of the first meta element with one, "" if there is none."""
    if match := _XML.match(raw[:400]):
        return match.group(1).decode("ascii").lower()
    page = raw[:_SEARCHED_BYTES].lower()
    start = page.find(b"<")
    while start >= 0:
        end = start + 1
        if page.startswith(b"<!--", start):
            end = page.find(b"-->", start + 2)
        elif page.startswith(b"<meta", start):
            end = page.find(b">", start)
            if match := _CHARSET.search(page, start, end if end >= 0 else len(page)):
                return match.group(1).decode("ascii")
        elif name := next((name for name in _RAW_TEXT if page.startswith(name, start + 1)), b""):
            end = page.find(b"</" + name, start)
        if end < 0:
            return ""
        start = page.find(b"<", end + 1 if end > start else start + 1)
    return ""


def _codecs(label: str) -> tuple[str, ...]:
    """Return Python's codecs for a label, most likely first. Empty for a label that browsers do not know (utf-7)."""
    if label in _REPLACEMENT_CODECS:
        return _REPLACEMENT_CODECS[label]
    encoding = webencodings.lookup(label) if label else None
    if encoding is None:
        return ()
    name: str = encoding.name
    if name in _CODECS:
        return _CODECS[name]
    return (str(encoding.codec_info.name),) if name != "replacement" else ()
