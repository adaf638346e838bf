"""Chunking parameters and the token counter type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

TokenCounter = Callable[[Sequence[str]], Sequence[int]]
"""A function that returns the number of tokens of each text, without special tokens and without truncation."""

Strategy = Literal["sentences", "headings", "tokens"]


@dataclass(frozen=True, slots=True)
class ChunkingParams:
    """Parameters of chunking.

    max_tokens: largest number of encoder tokens in a chunk, counted as the sum over its parts (for word-piece encoders
    this equals the count of the chunk). overlap_sentences: number of sentences at the end of a chunk that the next one
    repeats, if they fit. max_characters: largest number of characters in a chunk; a second limit, because a tokenizer
    may map a long run of characters to a single unknown token. strategy: "sentences" packs complete sentences;
    "headings" packs sentences within the sections of the document; "tokens" packs words into windows that are as full
    as possible, regardless of sentences. overlap_tokens: largest number of tokens that consecutive windows of "tokens"
    share.
    """

    max_tokens: int = 110
    overlap_sentences: int = 0
    max_characters: int = 2000
    strategy: Strategy = "sentences"
    overlap_tokens: int = 0

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if self.overlap_sentences < 0:
            raise ValueError(f"overlap_sentences must not be negative, not {self.overlap_sentences}")
        if self.max_characters < 1:
            raise ValueError(f"max_characters must be at least 1, not {self.max_characters}")
        if self.strategy not in get_args(Strategy):
            raise ValueError(f"strategy must be one of {', '.join(get_args(Strategy))}, not {self.strategy!r}")
        if not 0 <= self.overlap_tokens < self.max_tokens:
            raise ValueError(f"overlap_tokens must be from 0 to max_tokens - 1, not {self.overlap_tokens}")
        if self.overlap_tokens and self.strategy != "tokens":
            raise ValueError(f"overlap_tokens is for the strategy tokens; {self.strategy} takes overlap_sentences")
        if self.overlap_sentences and self.strategy == "tokens":
            raise ValueError("overlap_sentences is not for the strategy tokens, which takes overlap_tokens")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object. Fields added after the first release are omitted at their default, to keep hashes."""
        value = asdict(self)
        for name in ("strategy", "overlap_tokens"):
            if value[name] == ChunkingParams.__dataclass_fields__[name].default:
                del value[name]
        return value
