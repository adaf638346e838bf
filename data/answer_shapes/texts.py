"""Extract texts of messages and retrieved passages from the layouts of tracing and evaluation tools."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any, Final

_TEXTS: Final = (
    *("text", "content", "page_content", "pageContent", "document.content", "passage", "chunk", "body", "snippet"),
)
_CONTAINERS: Final = ("document", "node", "chunk", "payload")
LISTS: Final = (
    *("contexts", "retrieved_contexts", "retrieval_context", "retrievalContext", "documents", "source_documents"),
    *("sources", "passages", "chunks", "context", "results", "matches"),
)
"""Field names of lists of passages."""
_ANSWERS: Final = (
    "answer",
    "response",
    "output",
    "completion",
    "result",
    "text",
    "content",
    "generation",
    "output_text",
)
_ASSISTANTS: Final = frozenset({"assistant", "ai", "model"})
_MAX_DEPTH: Final = 8


def parsed(value: object) -> object:
    """Parse a text that contains JSON, or a Python list or dict as data frames write it into cells.

    Any other value is returned unchanged.
    """
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, list | dict) else value


def passages_of(value: object, depth: int = 0) -> list[str]:
    """Return the texts of passages, empty if there are none.

    value: a text, an object with a text (also inside "document" or "node"), a list of these, or an object that contains
    such a list.
    """
    value = parsed(value)
    if depth > _MAX_DEPTH or value is None:
        return []
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list):
        return [text for item in value for text in passages_of(item, depth + 1)]
    if not isinstance(value, Mapping):
        return []
    for name in _TEXTS:
        if isinstance(value.get(name), str):
            return [value[name]] if value[name].strip() else []
    for name in (*_CONTAINERS, *LISTS):
        if isinstance(value.get(name), list | Mapping):
            return passages_of(value[name], depth + 1)
    return []


def contexts_in(value: object) -> list[str]:
    """Return the passages in an object's field for contexts, empty if there is no such field."""
    value = parsed(value)
    if not isinstance(value, Mapping):
        return []
    return next((found for name in LISTS if (found := passages_of(value.get(name)))), [])


def answer_of(value: object, depth: int = 0) -> str | None:
    """Return the answer in a tool's output, None if there is none.

    value: a text, a list of messages, of which the assistant's last one is used, or an object that contains one of
    these.
    """
    text = value if isinstance(value, str) else ""
    value = parsed(value)
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        if text and not any(isinstance(item, dict | list) for item in value):
            return text.strip()  # an answer such as "[1]"
        return _last_answer(value, depth)
    if not isinstance(value, Mapping):
        return None
    for name in ("messages", "choices", "generations"):
        if isinstance(value.get(name), list) and (found := _last_answer(value[name], depth)) is not None:
            return found
    if isinstance(value.get("parts"), list):
        return joined(value["parts"])
    for name in ("message", "kwargs", *_ANSWERS):
        if (found := answer_of(value.get(name), depth + 1)) is not None:
            return found
    return None


def joined(content: object) -> str | None:
    """Return the text of a message, None if it has none. The text parts of a list are joined by line breaks."""
    if isinstance(content, str):
        return content.strip() or None
    if not isinstance(content, list):
        return None
    parts: list[Any] = [
        part if isinstance(part, str) else part.get("text") or part.get("content")
        for part in content
        if isinstance(part, str | dict)
    ]
    return "\n".join(part for part in parts if isinstance(part, str)).strip() or None


def role_of(message: Mapping[str, Any]) -> str:
    """Return the role of a message's author: "user", "assistant", "tool", another role in lower case, or ""."""
    role = message.get("role") or message.get("type") or ""
    name = str(role).casefold()
    if name in ("human", "humanmessage"):
        return "user"
    return "assistant" if name in _ASSISTANTS or name == "aimessage" else name


def _last_answer(items: list[Any], depth: int) -> str | None:
    """Return the assistant's last text in a list of messages or choices. Items without a role count as its texts."""
    for item in reversed(items):
        if isinstance(item, Mapping) and role_of(item) not in ("", "assistant", "text"):
            continue
        if isinstance(item, Mapping) and isinstance(item.get("content"), list):
            found = joined(item["content"])
        else:
            found = answer_of(item, depth + 1)
        if found is not None:
            return found
    return None
