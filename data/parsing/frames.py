"""Encode and decode the frames between this process and its parser processes.

A frame is a length of four bytes (big-endian), followed by a JSON object. JSON is used instead of pickle, so that a
compromised child can send wrong text, but cannot execute code in this process.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any, get_args

from data.documents import Document
from data.fields import as_text
from data.outline import Outline
from data.parsing.origin import Item, NumberedDocument
from data.refused import Refused, RefusedKind

MAX_FRAME = 1 << 29
"""Largest frame in bytes that either side accepts. It fits the longest text, escaped, and its outline."""

_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """A frame is invalid or too large. ended: whether the stream has ended within a frame."""

    def __init__(self, message: str, *, ended: bool = False) -> None:
        super().__init__(message)
        self.ended = ended


def packed(value: Mapping[str, Any]) -> bytes:
    """Encode a frame. Raises FrameError if it exceeds ``MAX_FRAME``."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if len(body) > MAX_FRAME:
        raise FrameError(f"a frame of {len(body):,} bytes, more than {MAX_FRAME:,}")
    return _LENGTH.pack(len(body)) + body


def read_frame(read: Callable[[int], bytes]) -> dict[str, Any] | None:
    """Return the next frame, None at the end of the stream. Raises FrameError if the frame is invalid.

    read: takes n and returns n bytes, or fewer at the end of the stream.
    """
    head = read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise FrameError("the stream ended within a frame", ended=True)
    (size,) = _LENGTH.unpack(head)
    if size > MAX_FRAME:
        raise FrameError(f"a frame of {size:,} bytes, more than {MAX_FRAME:,}")
    body = read(size)
    if len(body) < size:
        raise FrameError("the stream ended within a frame", ended=True)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a frame is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise FrameError("a frame is not an object")
    return value


def item_to_json(item: Item) -> dict[str, Any]:
    """Return a document or refusal as the JSON object of a frame."""
    match item:
        case Refused():
            return {"refused": [item.where, item.reason, item.kind, item.count]}
        case NumberedDocument():
            return {**item_to_json(item.document), "line": item.line}
        case Document():
            metadata = [list(pair) for pair in item.metadata]
            return {"document": [item.id, item.title, item.text, metadata, item.outline.to_json()]}


def item_from_json(value: Mapping[str, Any]) -> Item:
    """Parse the output of ``item_to_json``. Raises FrameError if it is invalid."""
    try:
        if "refused" in value:
            where, reason, kind, count = value["refused"]
            if kind not in get_args(RefusedKind):
                raise ValueError(f"{kind!r} is not a kind of refusal")
            return Refused(as_text(where, "where"), as_text(reason, "reason"), kind, int(count))
        document_id, title, text, metadata, outline = value["document"]
        document = Document(
            as_text(document_id, "id"),
            as_text(title, "title"),
            as_text(text, "text"),
            tuple((as_text(key, "metadata"), as_text(item, "metadata")) for key, item in metadata),
            Outline.from_json(outline),
        )
        return NumberedDocument(document, int(value["line"])) if "line" in value else document
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FrameError(f"a frame does not contain a document ({error})") from None
