"""Counting the tokens of texts with a tokenizers file, as a value that can be sent to another process."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from model.checkpoints.tokenizer import panics_named

_SLICE = 1000


class TokenizerCounter:
    """Calls count: tokens of each text, without special tokens and without truncation. Can be pickled."""

    def __init__(self, definition: str) -> None:
        """definition: the text of a tokenizer.json."""
        self._definition = definition
        self._tokenizer = Tokenizer.from_str(definition)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def definition(self) -> str:
        """The tokenizer.json as it is used: without truncation and padding."""
        return str(self._tokenizer.to_str())

    def __call__(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Tokens of each text."""
        counts: list[int] = []
        # In slices: the encodings of a whole book at once take a hundred times the room of the book.
        for start in range(0, len(texts), _SLICE):
            with panics_named():
                batch = self._tokenizer.encode_batch_fast(list(texts[start : start + _SLICE]), add_special_tokens=False)
            counts.extend(len(encoding) for encoding in batch)
        return tuple(counts)

    def __reduce__(self) -> tuple[type[TokenizerCounter], tuple[str]]:
        return TokenizerCounter, (self._definition,)
