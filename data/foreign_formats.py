"""Identify unsupported file formats by their first bytes, and advise what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_WRITE = "write the rows as JSON Lines, with pandas df.to_json(FILE, orient='records', lines=True), or as CSV"
_UNPACK = "unpack it first; only .gz and .bz2 are read directly"
_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a parquet file", _WRITE),
    (b"ARROW1", "an Arrow file", _WRITE),
    (b"FEA1", "a Feather file", _WRITE),
    (b"ORC", "an ORC file", _WRITE),
    (b"Obj\x01", "an Avro file", _WRITE),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _WRITE),
    (b"\x93NUMPY", "a numpy array", _WRITE),
    (b"SQLite format 3\0", "an SQLite database", _WRITE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "save it as CSV UTF-8"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (b"\xfd7zXZ\0", "packed with xz", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "packed with 7-Zip", _UNPACK),
    (b"\x04\x22\x4d\x18", "packed with lz4", _UNPACK),
    (b"\x1f\x8b", "packed with gzip", "give its name the ending .gz"),
    (b"BZh", "packed with bzip2", "give its name the ending .bz2"),
    (b"%PDF-", "a PDF document", _WRITE),
)
_ZIPPED: Mapping[str, tuple[str, str]] = {
    ".xlsx": ("an Excel workbook", "save the sheet as CSV UTF-8"),
    ".xlsm": ("an Excel workbook", "save the sheet as CSV UTF-8"),
    ".ods": ("a spreadsheet", "save the sheet as CSV in UTF-8"),
    ".npz": ("a file of numpy arrays", _WRITE),
}


def foreign_format(path: Path, head: bytes) -> str:
    """Return the file's format and what to do, for an error message; "" if the file may be text.

    head: first bytes of the file, at least 16 if available.
    """
    for start, what, remedy in _STARTS:
        if head.startswith(start):
            return f"{what}, which is not supported here: {remedy}"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        what, remedy = _ZIPPED.get(path.suffix.lower(), ("a zip archive", _UNPACK))
        return f"{what}, which is not supported here: {remedy}"
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return f"a pickle, which is not supported because it could run any code: {_WRITE}"
    return ""
