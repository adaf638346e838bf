"""What a reasoning model writes before its answer: ``<think>...</think>`` and the like, and where the answer stands."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_OPEN = re.compile(
    rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking|START_THINKING)\|>|"
    r"<\|channel\|>(?:analysis|commentary)[^<\n]*<\|message\|>",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking|END_THINKING)\|>|"
    r"(?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant\s*)?<\|channel\|>final[^<\n]*<\|message\|>",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:<\|(?:end|return|im_end)\|>\s*)+$")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The answer in a completion: ``text[start:end]``. cut_off: the text ends inside a thought, before any answer."""

    start: int
    end: int
    cut_off: bool = False


def answer_part(text: str) -> AnswerPart:
    """Where the answer stands behind what a reasoning model thought; the whole text where it holds no thought.

    A closing mark without an opening one ends a thought too: chat templates often write the opening mark themselves.
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return AnswerPart(0, len(text))
    start, closed = 0, False
    for match in _CLOSE.finditer(text):
        start, closed = match.end(), True
    opened = _OPEN.search(text, start)
    tail = _TAIL.search(text)
    end = tail.start() if closed and tail and tail.start() >= start else len(text)
    if opened is not None:
        if text[start : opened.start()].strip():
            return AnswerPart(start, opened.start())
        return AnswerPart(len(text), len(text), cut_off=True)
    return AnswerPart(start, end)
