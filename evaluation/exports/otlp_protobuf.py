"""Conversion of OTLP's JSON documents to protobuf.

opentelemetry-proto is an extra ("otel"), which is imported on first use.
"""

from __future__ import annotations

import base64
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.exports.otlp import Signal

_IDS = ("traceId", "spanId", "parentSpanId")


def check_protobuf() -> None:
    """Raise EvaluationError if opentelemetry-proto is not installed."""
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise EvaluationError(
            'sending by OTLP needs opentelemetry-proto, which is not installed: pip install "plumbline-rag[otel]", or '
            "export to a file and let a collector send it"
        ) from error


def protobuf_bytes(document: dict[str, Any], signal: Signal) -> bytes:
    """Return a document of otlp_documents as a serialised export request. Raises EvaluationError without the extra."""
    check_protobuf()
    from google.protobuf.json_format import ParseDict

    message: Any
    if signal == "traces":
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        message = ExportTraceServiceRequest()
    else:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

        message = ExportLogsServiceRequest()
    ParseDict(_with_base64_ids(document), message)
    return bytes(message.SerializeToString())


def _with_base64_ids(value: Any) -> Any:
    """Convert IDs from hexadecimal, as in OTLP's JSON, to base64, as protobuf's JSON writes bytes."""
    if isinstance(value, dict):
        return {
            name: base64.b64encode(bytes.fromhex(inner)).decode() if name in _IDS else _with_base64_ids(inner)
            for name, inner in value.items()
        }
    return [_with_base64_ids(item) for item in value] if isinstance(value, list) else value
