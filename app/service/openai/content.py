"""Read the text of a chat message, whose content may be a text or a list of parts.

Other fields of a part (``cache_control``, ``id``, ``annotations``) are ignored. A part that is not text is refused in
messages of the system, the developer and the user. It is skipped in earlier messages of the assistant or a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from app.service.http.errors import ApiError
from data.fields import kind_of

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]

_TEXT_TYPES = frozenset(("text", "input_text", "output_text"))
_ASKING: frozenset[Role] = frozenset(("system", "developer", "user"))
CONTENT_SCHEMA: dict[str, Any] = {
    "description": "a text, or parts of type text; other fields of a part are ignored",
    "anyOf": [
        {"type": "string"},
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"type": {"type": "string"}, "text": {"type": "string"}},
                "required": ["type"],
            },
        },
        {"type": "null"},
    ],
}


def text_of(content: object, role: Role, place: str) -> str:
    """Return the text of a message: parts joined by line breaks; empty if there is none.

    place: location of the message, such as ``messages.0``.

    Raises ApiError 400 for content that is neither text nor a list of parts, for a non-text part in a message of the
    user or system, and for characters that cannot be stored (NUL, a lone surrogate).
    """
    where = f"{place}.content"
    if content is None:
        return ""
    if isinstance(content, str):
        return _checked(content, where)
    if not isinstance(content, list):
        raise refused(f"{where} is {kind_of(content)}: it must be text, or a list of parts of type text", where)
    texts = (_part(part, role, f"{where}.{number}") for number, part in enumerate(content))
    return "\n".join(text for text in texts if text is not None)


def refused(message: str, param: str) -> ApiError:
    """Return a 400 error for an invalid value."""
    return ApiError(400, message, code="invalid_value", param=param)


def _part(part: object, role: Role, where: str) -> str | None:
    """Return the text of a part; None for a part that is skipped."""
    if isinstance(part, str):
        return _checked(part, where)
    if not isinstance(part, Mapping):
        raise refused(f'{where} is {kind_of(part)}: a part looks like {{"type": "text", "text": "..."}}', "messages")
    kind, text = part.get("type"), part.get("text")
    if isinstance(kind, str) and kind in _TEXT_TYPES:
        if isinstance(text, str):
            return _checked(text, where)
        reason = "has no text" if text is None else f"has a text that is {kind_of(text)}"
        raise refused(f'{where} {reason}: a part looks like {{"type": "text", "text": "..."}}', "messages")
    if role not in _ASKING:
        return None
    name = f"of the type {_shown(kind)}" if isinstance(kind, str) else "without a type"
    raise refused(f"{where} is a part {name}: only text is supported, so leave it out", "messages")


def _checked(text: str, where: str) -> str:
    if "\0" in text:
        raise refused(f"{where} contains a NUL character: remove it", where)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise refused(
            f"{where} contains half of a surrogate pair at character {error.start}: send the whole character", where
        ) from None
    return text


def _shown(kind: str) -> str:
    return ascii(kind[:40])
