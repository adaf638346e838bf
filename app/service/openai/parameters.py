"""What of OpenAI's chat parameters is taken, taken because it changes nothing, and refused by name.

Nothing that would change an answer is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.service.http.errors import ApiError

_NOTHING: tuple[Any, ...] = (None, [], {}, "", False)
# Parameter, the values that ask for nothing, and what to do instead.
_REFUSED: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("tools", _NOTHING, "this service answers from documents and calls no tools"),
    ("tool_choice", (*_NOTHING, "none", "auto"), "this service calls no tools"),
    ("functions", _NOTHING, "this service calls no functions"),
    ("function_call", (*_NOTHING, "none", "auto"), "this service calls no functions"),
    ("frequency_penalty", (None, 0, 0.0), "use repetition_penalty, which is the engine's own"),
    ("presence_penalty", (None, 0, 0.0), "use repetition_penalty, which is the engine's own"),
    ("response_format", (None, {"type": "text"}), "answers are text"),
    ("modalities", (None, ["text"]), "answers are text"),
    ("audio", _NOTHING, "answers are text"),
    ("prediction", _NOTHING, "nothing is predicted from a draft"),
    ("reasoning_effort", (None, "none"), "no train of thought is written"),
    ("verbosity", (None, "medium"), "use style, which may be short or sentence"),
    ("web_search_options", _NOTHING, "only the collection is searched"),
    ("store", _NOTHING, "queries are kept in this server's own database"),
    ("moderation", _NOTHING, "nothing is moderated"),
)
_IGNORED = frozenset(
    (
        *("user", "metadata", "service_tier", "safety_identifier", "parallel_tool_calls"),
        *("prompt_cache_key", "prompt_cache_retention"),
    )
)


def without_unsupported(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those that ask for nothing. Raises ApiError 400 that names the first one that does."""
    kept = {name: value for name, value in fields.items() if name not in _IGNORED}
    for name, neutral, instead in _REFUSED:
        if name not in kept:
            continue
        value = kept.pop(name)
        if not any(value == nothing and isinstance(value, bool) == isinstance(nothing, bool) for nothing in neutral):
            raise ApiError(400, f"{name} is not supported here: {instead}", code="unsupported_parameter", param=name)
    return kept
