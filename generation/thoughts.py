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
    closing tag without an opening one ends a thought that began with the text, since some chat templates open it in the
    prompt. Tags in code (between backticks) are text.
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
