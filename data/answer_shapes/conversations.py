"""Extract the last question and answer of a conversation.

Supported layouts are Ragas' MultiTurnSample (``user_input`` is a list of messages of type human, ai and tool) and
DeepEval's ConversationalTestCase (``turns`` with role and content).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from data.answer_shapes.texts import joined, passages_of, role_of

TURN_LISTS: Final = ("user_input", "question", "turns", "messages")
_CONTEXTS: Final = ("retrieved_contexts", "retrieval_context", "retrievalContext", "contexts")


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The last turn of a conversation.

    question, answer: "" if the conversation has none. contexts: passages of all turns and tools up to the answer.
    """

    question: str
    answer: str
    contexts: tuple[str, ...]


def is_conversation(value: object) -> bool:
    """Return whether a value is a non-empty list of messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, Mapping) and ("content" in turn or "tool_calls" in turn) for turn in value)
        and any(role_of(turn) in ("user", "assistant") for turn in value)
    )


def last_turn(turns: Sequence[Mapping[str, Any]], answered: bool = False) -> LastTurn:
    """Return the last answer with its question.

    answered: whether the answer is outside the conversation. The conversation then ends with the question.
    """
    answer = ""
    end = len(turns)
    if not answered:
        for number in range(len(turns) - 1, -1, -1):
            text = joined(turns[number].get("content"))
            if role_of(turns[number]) == "assistant" and text:
                answer, end = text, number
                break
    questions = [joined(turn.get("content")) for turn in turns[:end] if role_of(turn) == "user"]
    contexts = [text for turn in turns[: end + 1] for text in _turn_contexts(turn)]
    return LastTurn(next((text for text in reversed(questions) if text), ""), answer, tuple(dict.fromkeys(contexts)))


def _turn_contexts(turn: Mapping[str, Any]) -> list[str]:
    if role_of(turn) == "tool":
        return passages_of(joined(turn.get("content")))
    return [text for name in _CONTEXTS for text in passages_of(turn.get(name))]


def split_conversation(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the fields of a row, with the conversation in the field ``name`` replaced by its last turn."""
    answer = next((row[key] for key in ("response", "answer", "actual_output") if row.get(key)), None)
    found = last_turn(row[name], answered=answer is not None)
    fields = {key: value for key, value in row.items() if key != name} | {"question": found.question}
    if answer is None:
        fields = {k: v for k, v in fields.items() if k not in ("response", "actual_output")} | {"answer": found.answer}
    if not any(row.get(key) for key in _CONTEXTS) and found.contexts:
        fields["contexts"] = list(found.contexts)
    return fields
