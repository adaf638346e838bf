"""Responses as a pandas DataFrame and as a Parquet file. pandas and pyarrow are extras, imported on first use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.atomic_write import atomic_write
from evaluation.errors import EvaluationError
from evaluation.exports.responses import COLUMNS, JudgedResponse, response_row

if TYPE_CHECKING:
    import pandas as pd

_BATCH_SIZE = 1024
_LISTS = ("references", "contexts", "context_documents")
_INTEGERS = ("sample", "claims", "unsupported", "prompt_tokens", "completion_tokens")


def data_frame(responses: Iterable[JudgedResponse]) -> pd.DataFrame:
    """Return a DataFrame with one response per row (COLUMNS). Unknown numbers are missing values of nullable types.

    Raises EvaluationError if pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise EvaluationError(
            'a DataFrame needs pandas, which is not installed: pip install "plumbline-rag[pandas]"'
        ) from error
    frame = pandas.DataFrame([response_row(response) for response in responses], columns=list(COLUMNS))
    return frame.astype(dict.fromkeys(_INTEGERS, "Int64") | {"support": "Float64", "answerable": "boolean"})


def write_parquet(path: Path, responses: Iterable[JudgedResponse]) -> int:
    """Write one response per row (COLUMNS) as Parquet, atomically, and return their number.

    Raises EvaluationError with the path, and if pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise EvaluationError(
            'a Parquet file needs pyarrow, which is not installed: pip install "plumbline-rag[parquet]"'
        ) from error
    schema = pa.schema([(name, _type(pa, name)) for name in COLUMNS])
    count = 0
    try:
        with atomic_write(path) as part, pq.ParquetWriter(part, schema) as writer:
            for rows in _batches(responses):
                writer.write_table(pa.Table.from_pylist(rows, schema))
                count += len(rows)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or error
        raise EvaluationError(f"cannot write {path}: {reason}. Free space, or name another file") from error
    return count


def _batches(responses: Iterable[JudgedResponse]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(responses)
    while batch := [response_row(response) for response in islice(iterator, _BATCH_SIZE)]:
        yield batch


def _type(pa: Any, name: str) -> Any:
    if name in _LISTS:
        return pa.list_(pa.string())
    if name == "cited":
        return pa.list_(pa.int64())
    if name in _INTEGERS:
        return pa.int64()
    return {"support": pa.float64(), "answerable": pa.bool_()}.get(name, pa.string())
