"""OpenAI's chat parameters: supported ones, ones without effect, and unsupported ones that are refused by name.

Parameters that would change an answer are never ignored silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.service.http.errors import ApiError

_NOTHING: tuple[Any, ...] = (None, [], {}, "", False)
# Parameter, its values without effect, and the alternative.
_REFUSED: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("tools", _NOTHING, "this service answers from documents and calls no tools"),
    ("tool_choice", (*_NOTHING, "none", "auto"), "this service calls no tools"),
    ("functions", _NOTHING, "this service calls no functions"),
    ("function_call", (*_NOTHING, "none", "auto"), "this service calls no functions"),
    ("frequency_penalty", (None, 0, 0.0), "use repetition_penalty, which is the engine's own"),
    ("presence_penalty", (None, 0, 0.0), "use repetition_penalty, which is the engine's own"),
    ("response_format", (None, {"type": "text"}), "answers are text"),
    ("modalities", (None, ["text"]), "answers are text only"),
    ("audio", _NOTHING, "answers are text only"),
    ("prediction", _NOTHING, "drafts of predicted output are not used"),
    ("reasoning_effort", (None, "none"), "the amount of reasoning is not configurable"),
    ("verbosity", (None, "medium"), "use style: short or sentence"),
    ("web_search_options", _NOTHING, "only the collection is searched"),
    ("store", _NOTHING, "queries are stored in this server's database"),
    ("moderation", _NOTHING, "there is no moderation"),
)
_IGNORED = frozenset(
    (
        *("user", "metadata", "service_tier", "safety_identifier", "parallel_tool_calls"),
        *("prompt_cache_key", "prompt_cache_retention"),
    )
)


def without_unsupported(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that have no effect. Raises ApiError 400 for the first unsupported one."""
    kept = {name: value for name, value in fields.items() if name not in _IGNORED}
    for name, neutral, instead in _REFUSED:
        if name not in kept:
            continue
        value = kept.pop(name)
        if not any(value == nothing and isinstance(value, bool) == isinstance(nothing, bool) for nothing in neutral):
            raise ApiError(400, f"{name} is not supported here: {instead}", code="unsupported_parameter", param=name)
    return kept
