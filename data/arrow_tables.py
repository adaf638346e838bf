"""Read rows of Parquet and Arrow files (also Feather 2 and Hugging Face datasets) with pyarrow.

pyarrow is an optional dependency (extra "parquet") and is imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data.errors import DataError
from data.refused import shown

ARROW_SUFFIXES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_PARQUET, _ARROW_FILE = b"PAR1", b"ARROW1"
_AT_ONCE = 1024
_STREAM = b"\xff\xff\xff\xff"
"""First bytes of a message in an Arrow stream, which has no magic number."""


def is_arrow(path: Path, head: bytes) -> bool:
    """Return whether a file is a Parquet or Arrow file. head: its first bytes, at least 8."""
    if head.startswith((_PARQUET, _ARROW_FILE)):
        return True
    return head.startswith(_STREAM) and path.suffix.lower() in ARROW_SUFFIXES


def arrow_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each row as a dict of Python values, in order. About a thousand rows are in memory at once.

    Raises DataError if pyarrow is not installed, and for a damaged file.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise DataError(
            f'{shown(path)} is read with pyarrow, which is not installed: pip install "plumbline-rag[parquet]", or '
            "write the rows as JSON Lines (df.to_json(FILE, orient='records', lines=True))"
        ) from error
    try:
        with path.open("rb") as file:
            head = file.read(8)
            file.seek(0)
            if head.startswith(_PARQUET):
                batches = pq.ParquetFile(file).iter_batches(batch_size=_AT_ONCE)
            elif head.startswith(_ARROW_FILE):
                reader = pa.ipc.open_file(file)
                batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
            else:
                batches = iter(pa.ipc.open_stream(file))
            for batch in batches:
                for start in range(0, batch.num_rows, _AT_ONCE):
                    yield from batch.slice(start, _AT_ONCE).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise DataError(
            f"{shown(path)} cannot be read ({reason}): is it damaged or incomplete? Write "
            "the rows as JSON Lines (df.to_json(FILE, orient='records', lines=True)) or as CSV if you can"
        ) from error
