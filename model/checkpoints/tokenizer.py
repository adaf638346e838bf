"""Convert text to token ids and back, with character offsets. Special tokens in a text are treated as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as HFTokenizer

from model.checkpoints.source import read_tokenizer, tokenizer_file, tokenizer_text
from model.errors import ModelError

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoded text. offsets: (start, end) of each token, in characters of the text."""

    token_ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Tokenizer:
    """A Hugging Face fast tokenizer.

    path: a tokenizer.json, or its location for messages if ``text`` is given. text: the content of a tokenizer.json;
    None reads ``path``. Raises ModelError, naming the path, if the file is missing or damaged.
    """

    def __init__(self, path: Path, text: str | None = None) -> None:
        text = read_tokenizer(path) if text is None else text
        try:
            self._tokenizer = HFTokenizer.from_str(text)
            self._encoder = HFTokenizer.from_str(_all_special(text))
        except Exception as error:  # the library raises bare Exception for all damage
            raise ModelError(f"{path} cannot be read as a tokenizer: {error}") from error
        self._encoder.no_truncation()
        self._encoder.no_padding()
        # A document that contains "[SEP]" or "<|im_end|>" must not be able to end its part of the prompt.
        self._encoder.encode_special_tokens = True

    @classmethod
    def from_checkpoint(cls, path: Path) -> Tokenizer:
        """Load the tokenizer of a checkpoint folder or a GGUF file."""
        return cls(Path(tokenizer_file(path)), tokenizer_text(path))

    def check_fits(self, path: Path, rows: int) -> None:
        """Raise ModelError, naming ``path``, if an embedding with ``rows`` rows lacks a token of this tokenizer."""
        if self.size > rows:
            raise ModelError(
                f"{path}: the tokenizer has {self.size} tokens, the embedding only {rows}: the two do not belong "
                "together"
            )

    @property
    def size(self) -> int:
        """Number of rows that an embedding needs: the largest token id, including added tokens, plus one."""
        return 1 + max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def encode(self, text: str) -> Encoding:
        """Encode the text, without adding or recognising special tokens."""
        with panics_as_errors():
            encoding = self._encoder.encode(_encodable(text), add_special_tokens=False)
        return Encoding(tuple(encoding.ids), tuple(encoding.offsets))

    def encode_many(self, texts: Sequence[str]) -> tuple[Encoding, ...]:
        """Encode each text as ``encode`` does, in parallel."""
        with panics_as_errors():
            encodings = self._encoder.encode_batch([_encodable(t) for t in texts], add_special_tokens=False)
        return tuple(Encoding(tuple(e.ids), tuple(e.offsets)) for e in encodings)

    def count(self, text: str) -> int:
        """Return the number of tokens of the text."""
        return len(self.encode(text).token_ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of the tokens, without special tokens."""
        with panics_as_errors():
            return str(self._tokenizer.decode(list(token_ids), skip_special_tokens=True))

    def token(self, token_id: int) -> str:
        """Return the token as the vocabulary writes it (``##ing``, ``Ġthe``)."""
        return str(self._tokenizer.id_to_token(token_id) or "")

    def id_of(self, token: str) -> int:
        """Return the id of a required token. Raises ModelError if it is missing."""
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise ModelError(f"the tokenizer has no token {token!r}")
        return int(found)


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Convert a panic of the tokenizers library, which is not an Exception, to ModelError.

    The library panics if a pattern of tokenizer.json needs more steps on a text than its regular expressions allow.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = f"the tokenizer cannot read or write this text ({error}): a pattern in it is at fault"
        raise ModelError(reason) from None


def _all_special(text: str) -> str:
    """Return a tokenizer.json with every added token marked special, so that none is recognised in a text.

    Chat templates also use added tokens without that mark (``<tool_call>``). Added tokens that are white space keep
    their mark, because tokenizers for code use them for ordinary text.
    """
    parts = json.loads(text)
    for token in parts.get("added_tokens") or ():
        token["special"] = token["special"] or bool(token["content"].strip())
    return json.dumps(parts)


def _encodable(text: str) -> str:
    """Replace each unpaired surrogate by one character, so that offsets stay correct."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
