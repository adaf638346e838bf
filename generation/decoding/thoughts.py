"""Separate the reasoning of a reasoning model from its answer.

Reasoning models write their reasoning between tags (``<think>...</think>``) or in a separate channel before they
answer. It is not part of the answer and is not judged, cited or shown as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# <think> (DeepSeek R1, Qwen3, SmolLM3, QwQ), <thinking>, <thought>, <thoughts>, <reasoning>, <reason>, <analysis>,
# <scratchpad>, <reflection> (prompted ones), [THINK] (Magistral), <seed:think> (Seed-OSS), <|thinking|> and
# <|begin_of_thought|> (others), ◁think▷ (Kimi).
_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratch_?pad|(?:inner_?)?monologue|reflection)"
_OPENING = re.compile(
    rf"<\s*{_NAMES}\s*>|<\|\s*(?:begin_of_)?{_NAMES}\s*\|>|\[THINK\]|◁think▷|<\|begin_of_thought\|>", re.IGNORECASE
)
_CLOSING = re.compile(
    rf"<\s*/\s*{_NAMES}\s*>|<\|\s*(?:/|end_of_){_NAMES}\s*\|>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>", re.IGNORECASE
)
# Harmony (gpt-oss): <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>answer.
_CHANNEL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>\s*(?P<name>\w+)[^<]*<\|message\|>")
_MESSAGE_END = re.compile(r"<\|(?:end|return|call)\|>")
# Some models put the solution in separate tags after the reasoning.
_SOLUTION = re.compile(r"<\|(?:begin|end)_of_solution\|>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ThoughtAndAnswer:
    """The reasoning and the answer of a completion, both without surrounding white space; either may be empty."""

    thought: str
    answer: str


def split_thought(text: str) -> ThoughtAndAnswer:
    """Split a text into reasoning and answer.

    Reasoning that is not closed, because the model reached its limit, extends to the end, and the answer is empty. Only
    a text that starts with reasoning contains any. Otherwise opening tags, and closing tags after them, are part of the
    answer ("The tag <think> opens a block."). A closing tag without an opening one ends reasoning that started with the
    text, since some chat templates open it in the prompt. Tags in code (between backticks) are plain text.
    """
    if "<|channel|>" in text:
        return _split_channels(text)
    spans = thought_spans(text)
    if not spans:
        return ThoughtAndAnswer("", text)
    thoughts, answer, last = [], [], 0
    for start, end in spans:
        answer.append(text[last:start])
        thoughts.append(_without_tags(text[start:end]))
        last = end
    answer.append(text[last:])
    final = " ".join(part for part in (_SOLUTION.sub("", piece).strip() for piece in answer) if part)
    return ThoughtAndAnswer("\n\n".join(part for part in thoughts if part), final)


def thought_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of reasoning as (start, end) in characters, including tags, in order, without overlap."""
    code = [match.span() for match in _CODE.finditer(text)]
    tags = sorted(
        (match.start(), match.end(), opens)
        for pattern, opens in ((_OPENING, True), (_CLOSING, False))
        for match in pattern.finditer(text)
    )
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for begin, end, opens in tags:
        if start is None and any(first <= begin < last for first, last in code):
            continue
        if opens:
            if start is None and not spans and text[:begin].strip():
                break  # part of the answer: this text does not start with reasoning
            start = begin if start is None else start
        elif start is not None:
            spans.append((start, end))
            start = None
        elif not spans:
            spans.append((0, end))
    if start is not None:
        spans.append((start, len(text)))
    return tuple(spans)


def _without_tags(thought: str) -> str:
    return _CLOSING.sub("", _OPENING.sub("", thought)).strip()


def _split_channels(text: str) -> ThoughtAndAnswer:
    """Split Harmony messages: everything outside the channel "final" is reasoning."""
    thoughts: list[str] = []
    answers: list[str] = []
    marks = list(_CHANNEL.finditer(text))
    if marks and (before := text[: marks[0].start()].strip()):
        thoughts.append(before)
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        message = text[mark.end() : following.start() if following else len(text)]
        message = _MESSAGE_END.split(message, maxsplit=1)[0].strip()
        (answers if mark["name"] == "final" else thoughts).append(message)
    return ThoughtAndAnswer("\n\n".join(thoughts), " ".join(answers))


class ThoughtFilter:
    """A filter that splits incremental text like ``split_thought``: it returns the answer and collects the reasoning.

    begun: whether the text starts within reasoning, because the chat template opens it in the prompt. Only a text that
    starts with reasoning contains any; tags in other texts are plain text. Text that may be the beginning of a tag is
    held back. A closing tag without an opening one marks the preceding text as reasoning only if none of it was
    returned yet.
    """

    def __init__(self, *, begun: bool = False) -> None:
        self._inside = self._thinks = begun
        self._waiting = ""
        self._thought: list[str] = []
        self._taken = 0
        self._fed = False
        self._literal = False
        self._in_code = False

    @property
    def thought(self) -> str:
        """The reasoning so far, without tags."""
        return "".join(self._thought).strip()

    def add_thought(self, text: str) -> None:
        """Add reasoning that arrived separately from the text, as servers send it."""
        self._thought.append(text)

    def take_thought(self) -> str:
        """Return the reasoning since the previous call, without tags, not stripped; may be empty."""
        new = "".join(self._thought[self._taken :])
        self._taken = len(self._thought)
        return new

    def feed(self, text: str) -> str:
        """Return the answer text that became final with this piece; may be empty."""
        buffer, self._waiting = self._waiting + text, ""
        out: list[str] = []
        while True:
            tag = self._next_tag(buffer)
            if tag is None:
                break
            before, buffer = buffer[: tag.start()], buffer[tag.end() :]
            closes = _CLOSING.fullmatch(tag[0]) is not None
            if self._inside or (closes and not self._fed and not self._literal):
                self._thought.append(before)
                self._inside, self._thinks = not closes, True
                continue
            out.append(self._passed(before))
            if self._thinks or not (closes or self._fed):
                self._inside, self._thinks = not closes, True
            else:
                self._literal = True
                out.append(self._passed(tag[0]))
        pending = _possible_tag(buffer)
        certain, self._waiting = buffer[: len(buffer) - pending], buffer[len(buffer) - pending :]
        out.append(self._visible(certain))
        return "".join(out)

    def finish(self) -> str:
        """Return the text that was held back, at the end of the input."""
        rest, self._waiting = self._waiting, ""
        return self._visible(rest)

    def _visible(self, text: str) -> str:
        if self._inside:
            self._thought.append(text)
            return ""
        return self._passed(text)

    def _passed(self, text: str) -> str:
        self._fed = self._fed or bool(text.strip())
        self._in_code ^= text.count("`") % 2 == 1
        return text

    def _next_tag(self, buffer: str) -> re.Match[str] | None:
        """Return the next tag outside code."""
        for tag in _TAG.finditer(buffer):
            if self._inside or not self._in_code ^ (buffer.count("`", 0, tag.start()) % 2 == 1):
                return tag
        return None


_TAG = re.compile(f"{_OPENING.pattern}|{_CLOSING.pattern}", re.IGNORECASE)
_LONGEST_TAG = 40


def _possible_tag(text: str) -> int:
    """Return the number of characters at the end that may be the beginning of a tag."""
    start = max(text.rfind(sign, max(0, len(text) - _LONGEST_TAG)) for sign in "<[◁")
    if start < 0 or any(end in text[start:] for end in ">]▷\n "):
        return 0
    return len(text) - start


def opens_thought(prompt_end: str) -> bool:
    """Return whether the last tag of a prompt opens reasoning that the completion continues."""
    tags = list(_TAG.finditer(prompt_end))
    return bool(tags) and _OPENING.fullmatch(tags[-1][0]) is not None
