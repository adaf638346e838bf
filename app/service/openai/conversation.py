"""Split messages into instructions, earlier turns, and the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.service.engine.standalone import ConversationTurn
from app.service.openai.content import refused, text_of
from app.service.openai.schemas import Message
from data.blank import is_blank

_READ = ("system", "developer", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A parsed conversation. instructions: system and developer messages, in order. history: earlier questions with
    their answers.
    """

    instructions: str
    history: tuple[ConversationTurn, ...]
    question: str


def read_conversation(messages: Sequence[Message]) -> Conversation:
    """Parse the messages. Raises ApiError 400 if the last message is not a question, or a text cannot be read.

    Of consecutive user messages only the last counts as the answered question. Answers without a question before them
    are ignored, as are tool calls and results in earlier turns.
    """
    last = messages[-1]
    where = f"messages.{len(messages) - 1}"
    if last.role != "user":
        raise refused(f"the last message has the role {last.role}: it must be the user's question", f"{where}.role")
    texts = [text_of(m.content, m.role, f"messages.{number}") for number, m in enumerate(messages) if m.role in _READ]
    read = [m for m in messages if m.role in _READ]
    question = texts[-1]
    if is_blank(question):
        raise refused("the last message is empty: send a question", f"{where}.content")
    instructions: list[str] = []
    history: list[ConversationTurn] = []
    for message, text in zip(read[:-1], texts[:-1], strict=True):
        content = text.strip()
        if not content:
            continue  # an assistant turn with only tool calls
        if message.role in ("system", "developer"):
            instructions.append(content)
        elif message.role == "user":
            history.append(ConversationTurn(content, ""))
        elif history:
            history[-1] = ConversationTurn(history[-1].question, content)
    return Conversation("\n\n".join(instructions), tuple(history), question)
