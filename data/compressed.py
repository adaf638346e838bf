"""Read the lines of a text file that may be compressed (.bz2, .gz)."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from data.errors import DataError


def numbered_lines(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line that is not blank.

    what: expected content, for messages. Raises DataError, which names the file, if it is missing, damaged or not
    UTF-8.
    """
    openers: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open}
    try:
        raw: IO[bytes] = openers.get(path.suffix, io.open)(path, "rb")
        with raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except FileNotFoundError as error:
        raise DataError(f"{path} does not exist: give a JSONL file of {what}") from error
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
