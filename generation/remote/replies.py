"""Parse and validate a server's replies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generation.completion import FinishReason
from generation.errors import UnavailableError
from generation.remote.options import Api

_ROUNDING = 0.01  # nats: tolerance for probabilities that are larger than 1 because of rounding
_LEAST = 1e30  # nats: values further from 0 are invalid
_DEEPEST = 64  # maximum number of nested lists and objects in an answer
_MOST_TOKENS = 2**31 - 1  # larger counts are invalid and do not fit a database column
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Choice:
    """One completion of a reply.

    thought: the reasoning that the server separated from the text. logprobs: log-probability of each token.
    logprobs_missing: the reason why ``logprobs`` is empty; "" if it is not.
    """

    text: str
    thought: str
    finish_reason: FinishReason
    logprobs: tuple[float, ...]
    logprobs_missing: str


@dataclass(frozen=True, slots=True)
class Delta:
    """One streamed event: a piece of text, a piece of reasoning, and the finish reason (None until the last one)."""

    text: str
    thought: str = ""
    finish_reason: object = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply.

    choices: completions in the order of their index. prompt_tokens, completion_tokens: token counts; None if not sent.
    system_fingerprint: "" if not sent.
    """

    choices: tuple[Choice, ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    system_fingerprint: str


def json_object(text: str | bytes, where: str) -> dict[str, Any]:
    """Return the JSON object in a server's reply. Raises UnavailableError, which names ``where``, if it is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnavailableError(
            f"{where} sent text that is not JSON ({short_line(text)!r}): is it an OpenAI-compatible server?"
        ) from error
    if not isinstance(value, dict):
        raise UnavailableError(f"{where} sent JSON that is not an object ({short_line(text)!r})")
    if _deeper_than(value, _DEEPEST):
        raise UnavailableError(f"{where} sent JSON nested more than {_DEEPEST} deep")
    return value


def _deeper_than(value: object, most: int) -> bool:
    """Return whether lists and objects are nested more than ``most`` deep, which may break recursive functions."""
    level = [value]
    for _ in range(most):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return False
    return True


def _within(value: object) -> list[object]:
    """Return the objects and lists in an object or list."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, (dict, list))]


def read_reply(fields: Mapping[str, Any], api: Api, count: int, logprobs: bool, where: str) -> Reply:
    """Parse a complete reply.

    count: number of requested choices. logprobs: whether log-probabilities were requested. where: name of the server
    in messages. Raises UnavailableError for an error object, another number of choices, or a choice without text.
    """
    refuse_error(fields, where)
    raw = fields.get("choices")
    if not isinstance(raw, list) or not all(isinstance(choice, dict) for choice in raw):
        raise UnavailableError(
            f"{where} sent a reply without choices ({short_line(json.dumps(fields, default=str))!r})"
        )
    if len(raw) != count:
        hint = "it ignores n: request each sample separately" if count > 1 else "try again"
        raise UnavailableError(f"{where} sent {len(raw)} choices for {count} requested: {hint}")
    ordered = sorted(raw, key=lambda choice: _count(choice.get("index")) or 0)
    prompt_tokens, completion_tokens = usage_of(fields)
    fingerprint = fields.get("system_fingerprint")
    return Reply(
        tuple(_choice(choice, api, logprobs, where) for choice in ordered),
        prompt_tokens,
        completion_tokens,
        fingerprint if isinstance(fingerprint, str) else "",
    )


def refuse_error(fields: Mapping[str, Any], where: str) -> None:
    """Raise UnavailableError if a reply with status 200, or an event of a stream, is an error object."""
    if fields.get("error"):
        raise UnavailableError(f"{where} reported an error: {error_message(fields)}")


def error_message(fields: Mapping[str, Any]) -> str:
    """Return the message of an error object, as one short line."""
    error: object = fields.get("error", fields)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    elif error is fields:
        error = fields.get("message") or fields.get("detail") or dict(fields)
    return short_line(str(error))


def finish_reason(value: object, where: str) -> FinishReason:
    """Return "stop" or "length". Raises UnavailableError if the answer was filtered or broken off."""
    if value == "length":
        return "length"
    if value in ("content_filter", "tool_calls", "function_call", "abort", "error"):
        raise UnavailableError(f"{where} ended the answer with finish_reason {value!r}: the answer is incomplete")
    return "stop"


def delta_of(fields: Mapping[str, Any], api: Api, where: str) -> Delta:
    """Parse a streamed event. Raises UnavailableError for an error object."""
    refuse_error(fields, where)
    choices = fields.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Delta("")  # for example the token counts at the end of a stream
    choice = choices[0]
    delta = choice.get("delta")
    if api == "completions" or not isinstance(delta, dict):
        message = choice.get("message")  # a server that does not stream sends the complete answer
        found = message if isinstance(message, dict) else {"content": choice.get("text")}
    else:
        found = delta
    text = _message_text(found)
    return Delta("" if text is None else _characters(text), message_thought(found), choice.get("finish_reason"))


def delta_logprobs(fields: Mapping[str, Any], api: Api) -> tuple[tuple[float, ...], str]:
    """Return the log-probabilities of a streamed event's tokens, and the reason if there are none (else "")."""
    choices = fields.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return (), "the server sent none"
    return _logprobs(choices[0].get("logprobs"), api)


def usage_of(fields: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the numbers of prompt and completion tokens; None if not sent."""
    usage = fields.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _choice(choice: Mapping[str, Any], api: Api, logprobs: bool, where: str) -> Choice:
    reason = finish_reason(choice.get("finish_reason"), where)
    if api == "chat":
        given = choice.get("message")
        message: Mapping[str, Any] = given if isinstance(given, dict) else {}
    else:
        message = {"content": choice.get("text")}
    thought = message_thought(message)
    text = _message_text(message)
    if text is None and thought:
        text = ""  # the tokens ended before the answer began
    if text is None:
        hint = ": its reasoning may have used all tokens. Request more tokens" if reason == "length" else ""
        raise UnavailableError(f"{where} sent a choice without text (finish_reason {reason!r}){hint}")
    text = _characters(text)
    if not logprobs:
        return Choice(text, thought, reason, (), "not asked for")
    values, missing = _logprobs(choice.get("logprobs"), api)
    return Choice(text, thought, reason, values, missing)


def _message_text(message: Mapping[str, Any]) -> str | None:
    """Return the answer in a message or a delta; None if there is none.

    The content is a text or a list of parts (Mistral's servers, gateways to Anthropic's models). The texts of the parts
    are joined, without reasoning. A refusal counts as an answer.
    """
    content = message.get("content")
    if isinstance(content, list):
        texts = [text for part in content if (text := _part_text(part)) is not None]
        content = "".join(texts) if texts else None
    if content is None:
        content = message.get("refusal")
    return content if isinstance(content, str) else None


def message_thought(message: Mapping[str, Any]) -> str:
    """Return the reasoning that a server separated from a message or a delta; empty if there is none.

    It is in the field reasoning_content (DeepSeek, SGLang, llama.cpp, earlier vLLM) or reasoning (vLLM, OpenRouter), or
    in parts of the content of type thinking (Mistral) or reasoning.
    """
    for name in ("reasoning_content", "reasoning"):
        given = message.get(name)
        if isinstance(given, str) and given:
            return _characters(given)
    content = message.get("content")
    return _characters("".join(map(_part_thought, content))) if isinstance(content, list) else ""


def _part_thought(part: object) -> str:
    """Return the text of a reasoning part, which is a text or a list of text parts; "" for other parts."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in ("thinking", "reasoning"):
        return ""
    given = part.get(kind, part.get("text"))
    if isinstance(given, list):
        return "".join(text for inner in given if (text := _part_text(inner)) is not None)
    return given if isinstance(given, str) else ""


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type", "text")
    text = part.get("text") if kind in ("text", "output_text") else part.get("refusal") if kind == "refusal" else None
    return text if isinstance(text, str) else None


def _logprobs(given: object, api: Api) -> tuple[tuple[float, ...], str]:
    """Return the tokens' log-probabilities, and the reason if there are none (else "").

    All or none are returned, because a mean over some of them would be meaningless.
    """
    if not isinstance(given, dict):
        return (), "the server sent none"
    chat = api == "chat" or "content" in given
    listed = given.get("content" if chat else "token_logprobs")
    if not isinstance(listed, list) or not listed:
        return (), "the server sent none"
    values: list[float] = []
    for position, part in enumerate(listed):
        value = (part.get("logprob") if isinstance(part, dict) else None) if chat else part
        # Compared instead of isfinite: an integer may be too large for a float.
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_LEAST <= value <= _LEAST:
            return (), f"the server sent {short_line(repr(value), 40)} for token {position}"
        if value > _ROUNDING:
            return (), f"the server sent {value!r} for token {position}, which is not a log-probability"
        values.append(min(0.0, float(value)))
    return tuple(values), ""


def checked_logprobs(values: tuple[float, ...], drawn: int | None) -> tuple[tuple[float, ...], str]:
    """Return the log-probabilities, or none and the reason if there are more of them than generated tokens.

    drawn: the server's count of generated tokens; None if unknown. One more is valid, because an end token may not be
    counted. Fewer are valid, because reasoning tokens are counted but not shown.
    """
    if drawn is not None and len(values) > drawn + 1:
        return (), f"the server sent {len(values)} for {drawn} tokens"
    return values, ""


def _characters(text: str) -> str:
    """Replace unpaired surrogates, which JSON can contain but UTF-8 cannot encode."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def short_line(text: str | bytes, most: int = 300) -> str:
    """Return the text as one line without control characters, of at most ``most`` characters."""
    plain = text.decode("utf-8", errors="replace") if isinstance(text, bytes) else text
    line = " ".join("".join(c if c.isprintable() else " " for c in plain[: 2 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"
