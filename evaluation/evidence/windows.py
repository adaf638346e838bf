"""Evidence as windows that a scorer can read at once: runs of whole sentences, overlapping. Knows no scorer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from retrieval.chunking.chunker import ChunkingParams, chunk_spans

_CHARACTERS_PER_TOKEN = 16
"""No more than so many characters count as one token: a tokenizer may turn a run of any length into one unknown."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of evidence: ``evidence[start:end] == text``, in characters."""

    text: str
    start: int
    end: int


def evidence_windows(
    text: str, room: int, count: Callable[[Sequence[str]], Sequence[int]], overlap_sentences: int = 1
) -> tuple[Window, ...]:
    """Windows of at most ``room`` tokens that together hold every non-space character of the text, in order.

    Whole sentences are packed until the next one does not fit; ``overlap_sentences`` of a window are repeated at the
    head of the next, where they fit. A sentence longer than the room is cut between lines, then between words, a word
    longer than the room between characters. count: the number of tokens of each text. Time is linear in the text; no
    text gives no window. Raises EvaluationError for a room below 1 or a negative overlap.
    """
    if room < 1 or overlap_sentences < 0:
        raise EvaluationError(
            f"windows of {room} tokens that overlap by {overlap_sentences} sentences: room for at least one token is "
            "needed, and the overlap cannot be negative"
        )
    params = ChunkingParams(room, overlap_sentences, _CHARACTERS_PER_TOKEN * room)
    return tuple(Window(text[s.start : s.end], s.start, s.end) for s in chunk_spans(text, count, params))
