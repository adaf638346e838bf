"""Log lines for people or for machines, each with its request's id; no question and no document text unless asked for.

The id travels in a context variable, so that whatever logs while a request is served needs not know of it.
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
"""Of the request that is served; "" outside of one."""


def log_event(logger: logging.Logger, event: str, message: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """A line with fields for machines. message: the same for people, without the request's id."""
    request_id = REQUEST_ID.get()
    shown = f"{request_id} {message}" if request_id else message
    extra = {"plumbline": {"event": event, "request_id": request_id or None, **fields}}
    logger.log(level, "%s", shown, extra=extra)


class JsonLines(logging.Formatter):
    """A JSON object a line: time, level, logger, message, and the fields of log_event."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
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
    """A line for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")


def formatter(kind: Format) -> logging.Formatter:
    """The formatter of a --log-format."""
    return JsonLines() if kind == "json" else TextLines()
