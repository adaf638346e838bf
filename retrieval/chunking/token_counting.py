"""A picklable token counter that uses a tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from model.checkpoints.tokenizer import panics_as_errors

_SLICE = 1000


class TokenizerCounter:
    """A TokenCounter that counts without special tokens and without truncation. Can be pickled."""

    def __init__(self, definition: str) -> None:
        """definition: the text of a tokenizer.json."""
        self._definition = definition
        self._tokenizer = Tokenizer.from_str(definition)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def definition(self) -> str:
        """Text of the tokenizer.json that is used, without truncation and padding."""
        return str(self._tokenizer.to_str())

    def __call__(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the number of tokens of each text."""
        counts: list[int] = []
        # Encode in slices, because encodings need about a hundred times the memory of their text.
        for start in range(0, len(texts), _SLICE):
            with panics_as_errors():
                batch = self._tokenizer.encode_batch_fast(list(texts[start : start + _SLICE]), add_special_tokens=False)
            counts.extend(len(encoding) for encoding in batch)
        return tuple(counts)

    def __reduce__(self) -> tuple[type[TokenizerCounter], tuple[str]]:
        return TokenizerCounter, (self._definition,)
