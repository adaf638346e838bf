"""Messages read as a conversation: instructions, what was said before, and the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.service.chat.schemas import Message
from app.service.errors import ApiError
from app.service.work.standalone import Exchange
from data.blank import is_blank


@dataclass(frozen=True, slots=True)
class Conversation:
    """instructions: of system and developer messages, in their order. history: questions with their answers."""

    instructions: str
    history: tuple[Exchange, ...]
    question: str


def read_conversation(messages: Sequence[Message]) -> Conversation:
    """Raises ApiError 400 where the last message is no question.

    Of user messages one after the other the last is the question that was answered; answers without a question before
    them are not looked at.
    """
    last = messages[-1]
    where = f"messages.{len(messages) - 1}"
    if last.role != "user":
        raise _refused(f"the last message is the {last.role}'s: it must be the user's question", f"{where}.role")
    if is_blank(last.text):
        raise _refused("the last message is empty: ask something", f"{where}.content")
    for number, message in enumerate(messages):
        if "\0" in message.text:
            raise _refused("a message holds a NUL character: take it out", f"messages.{number}.content")
    told = [m.text.strip() for m in messages if m.role in ("system", "developer") and m.text.strip()]
    history: list[Exchange] = []
    for message in messages[:-1]:
        said = message.text.strip()
        if message.role == "user" and said:
            history.append(Exchange(said, ""))
        elif message.role == "assistant" and history:
            history[-1] = Exchange(history[-1].question, said)
    return Conversation("\n\n".join(told), tuple(history), last.text)


def _refused(message: str, param: str) -> ApiError:
    return ApiError(400, message, code="invalid_value", param=param)
