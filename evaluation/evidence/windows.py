"""Splitting of evidence into windows that fit a scorer: runs of complete sentences that overlap.

Independent of the scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from retrieval.chunking.chunker import ChunkingParams, chunk_spans

_CHARACTERS_PER_TOKEN = 16
"""Maximum characters counted as one token, because a tokenizer may map a run of any length to one unknown token."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of evidence: ``evidence[start:end] == text``, in characters."""

    text: str
    start: int
    end: int


def evidence_windows(
    text: str, room: int, count: Callable[[Sequence[str]], Sequence[int]], overlap_sentences: int = 1
) -> tuple[Window, ...]:
    """Return windows of at most ``room`` tokens that together contain every non-space character of the text, in order.

    room: maximum number of tokens of a window, at least 1. count: function that returns the number of tokens of each
    text. overlap_sentences: number of sentences repeated at the start of the next window, if they fit.

    Complete sentences are packed until the next one does not fit. A sentence longer than ``room`` is cut between lines,
    then between words; a longer word is cut between characters. Linear in the text. An empty text has no windows.
    Raises EvaluationError for a room below 1 or a negative overlap.
    """
    if room < 1 or overlap_sentences < 0:
        raise EvaluationError(
            f"windows of {room} tokens that overlap by {overlap_sentences} sentences: a window must hold at least one "
            "token, and the overlap cannot be negative"
        )
    params = ChunkingParams(room, overlap_sentences, _CHARACTERS_PER_TOKEN * room)
    return tuple(Window(text[s.start : s.end], s.start, s.end) for s in chunk_spans(text, count, params))
