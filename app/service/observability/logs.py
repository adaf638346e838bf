"""Log lines as text or JSON, each with the ID of its request, and without question or document text unless enabled.

The ID is in a context variable, so that code that logs during a request need not pass it on.
"""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

LOGGER = "plumbline.service"
Format = Literal["text", "json"]
REQUEST_ID: ContextVar[str] = ContextVar("plumbline_request_id", default="")
"""ID of the current request; "" outside of a request."""


def log_event(logger: logging.Logger, event: str, message: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log a line with structured fields. message: readable text without the request's ID."""
    request_id = REQUEST_ID.get()
    shown = f"{request_id} {message}" if request_id else message
    extra = {"plumbline": {"event": event, "request_id": request_id or None, **fields}}
    logger.log(level, "%s", shown, extra=extra)


class JsonLines(logging.Formatter):
    """A formatter that writes one JSON object per line: time, level, logger, message, and the fields of log_event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields = getattr(record, "plumbline", None) or {"request_id": REQUEST_ID.get() or None}
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **fields,
        }
        if "event" not in line:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """A formatter that writes readable lines."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")


def formatter(kind: Format) -> logging.Formatter:
    """Return the formatter for a value of --log-format."""
    return JsonLines() if kind == "json" else TextLines()
