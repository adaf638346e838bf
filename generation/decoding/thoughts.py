"""What a reasoning model thinks, kept apart from what it answers.

Reasoning models write a train of thought between tags (``<think>...</think>``) or in a channel of its own before they
answer. It is no part of the answer: it is not judged, cited or shown as such.
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
# Solutions of some models stand in tags of their own behind the thought.
_SOLUTION = re.compile(r"<\|(?:begin|end)_of_solution\|>")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ThoughtAndAnswer:
    """A completion's text in two: both without white space at their ends, either may be empty."""

    thought: str
    answer: str


def split_thought(text: str) -> ThoughtAndAnswer:
    """The train of thought and the answer in a text.

    A thought that is not closed, because the model reached its limit, goes to the end: there is no answer then. A
    thought begins with the text, or later where the text began with one; other opening tags are words of the answer
    ("The tag <think> opens a block."), and so are closing tags behind them. A closing tag without an opening one ends a
    thought that began with the text, since some chat templates open it in the prompt. Tags in code (between backticks)
    are text.
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
    said = " ".join(part for part in (_SOLUTION.sub("", piece).strip() for piece in answer) if part)
    return ThoughtAndAnswer("\n\n".join(part for part in thoughts if part), said)


def thought_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where thoughts stand in a text, tags included: (start, end) in characters, in order, not overlapping."""
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
                break  # a word of the answer: this text does not begin with a thought
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
    """Harmony's messages: what is not in the channel "final" is thought."""
    thoughts: list[str] = []
    answers: list[str] = []
    marks = list(_CHANNEL.finditer(text))
    if marks and (before := text[: marks[0].start()].strip()):
        thoughts.append(before)
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        said = text[mark.end() : following.start() if following else len(text)]
        said = _MESSAGE_END.split(said, maxsplit=1)[0].strip()
        (answers if mark["name"] == "final" else thoughts).append(said)
    return ThoughtAndAnswer("\n\n".join(thoughts), " ".join(answers))


class ThoughtFilter:
    """``split_thought`` of a text that comes in pieces: the answer goes on, the thought is kept.

    begun: whether the text begins within a thought, as it does where a chat template opens it in the prompt. A text
    that begins otherwise has no thoughts: a tag in it is a word. What may be the beginning of a tag is held back. Text
    that went on cannot be called back: a closing tag without an opening one makes a thought of what is still held,
    which is all of it where the text comes in one piece.
    """

    def __init__(self, *, begun: bool = False) -> None:
        self._inside = self._thinks = begun
        self._waiting = ""
        self._thought: list[str] = []
        self._fed = False
        self._literal = False
        self._in_code = False

    @property
    def thought(self) -> str:
        """What was thought so far, without tags."""
        return "".join(self._thought).strip()

    def feed(self, text: str) -> str:
        """The answer's text that this piece made certain, perhaps none."""
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
        held = _possible_tag(buffer)
        certain, self._waiting = buffer[: len(buffer) - held], buffer[len(buffer) - held :]
        out.append(self._told(certain))
        return "".join(out)

    def finish(self) -> str:
        """What was held back, when no text follows."""
        rest, self._waiting = self._waiting, ""
        return self._told(rest)

    def _told(self, text: str) -> str:
        if self._inside:
            self._thought.append(text)
            return ""
        return self._passed(text)

    def _passed(self, text: str) -> str:
        self._fed = self._fed or bool(text.strip())
        self._in_code ^= text.count("`") % 2 == 1
        return text

    def _next_tag(self, buffer: str) -> re.Match[str] | None:
        """The next tag that is none in code."""
        for tag in _TAG.finditer(buffer):
            if self._inside or not self._in_code ^ (buffer.count("`", 0, tag.start()) % 2 == 1):
                return tag
        return None


_TAG = re.compile(f"{_OPENING.pattern}|{_CLOSING.pattern}", re.IGNORECASE)
_LONGEST_TAG = 40


def _possible_tag(text: str) -> int:
    """How many characters at the end may be the beginning of a tag."""
    start = max(text.rfind(sign, max(0, len(text) - _LONGEST_TAG)) for sign in "<[◁")
    if start < 0 or any(end in text[start:] for end in ">]▷\n "):
        return 0
    return len(text) - start


def opens_thought(prompt_end: str) -> bool:
    """Whether the last tag of a prompt opens a thought that the completion goes on with."""
    tags = list(_TAG.finditer(prompt_end))
    return bool(tags) and _OPENING.fullmatch(tags[-1][0]) is not None
