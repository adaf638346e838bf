"""Export judged responses as Parquet, or in OpenTelemetry's protocol (OTLP) to a file or a server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal

from app.errors import AppError
from app.exporting.otlp_sending import HEADERS_VARIABLE, otlp_server, send_documents
from data.atomic_write import atomic_write
from evaluation.exports.otlp import Signal, otlp_documents
from evaluation.exports.otlp_protobuf import check_protobuf
from evaluation.exports.responses import JudgedResponse
from evaluation.exports.tables import write_parquet

ResponseExport = Literal["parquet", "otlp", "otlp-logs"]
RESPONSE_EXPORTS: Final[tuple[ResponseExport, ...]] = ("parquet", "otlp", "otlp-logs")
"""Export formats. otlp: spans that have the results as events. otlp-logs: the same events as log records."""
_SCHEMES: Final = ("http://", "https://")


def is_server(target: str) -> bool:
    """Return whether an export target is a URL of a server rather than a file."""
    return target.startswith(_SCHEMES)


def without_password(target: str) -> str:
    """Return the target without user name and password, for display."""
    if not is_server(target):
        return target
    scheme, _, rest = target.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def check_target(kind: str, target: str) -> None:
    """Check a target before anything is computed. Raises AppError or EvaluationError for an invalid one."""
    if not is_server(target):
        folder = Path(target).absolute().parent
        if not folder.is_dir():
            raise AppError(f"cannot write {target}: the folder {folder} does not exist", parameter="export")
        return
    if kind == "parquet":
        raise AppError("Parquet is written to a file, not sent to a server", parameter="export")
    check_protobuf()
    otlp_server(target, _signal(kind), os.environ.get(HEADERS_VARIABLE, ""))


def _signal(kind: str) -> Signal:
    return "logs" if kind == "otlp-logs" else "traces"


def export_responses(kind: ResponseExport, target: str, responses: Iterable[JudgedResponse]) -> int:
    """Write or send responses and return their number. target: a file, or for OTLP the URL of a server.

    An OTLP file has one export request in JSON per line, the format of the collector's file exporter. An existing file
    is replaced only when the new one is complete. Raises AppError or EvaluationError for an invalid target, a file that
    cannot be written, or a server that does not accept the data.
    """
    check_target(kind, target)
    if kind == "parquet":
        return write_parquet(Path(target), responses)
    signal = _signal(kind)
    count = 0

    def counted() -> Iterator[JudgedResponse]:
        nonlocal count
        for response in responses:
            count += 1
            yield response

    documents = otlp_documents(counted(), signal, version("plumbline-rag"))
    if is_server(target):
        server = otlp_server(target, signal, os.environ.get(HEADERS_VARIABLE, ""))
        send_documents(server, documents, signal)
        return count
    try:
        with atomic_write(Path(target)) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n" for document in documents)
    except OSError as error:
        raise AppError(f"cannot write {target}: {error.strerror}. Free space, or name another file") from error
    return count
