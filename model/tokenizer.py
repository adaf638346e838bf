"""Text to token ids and back, with character offsets; special tokens written in a text stay text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as HFTokenizer

from model.errors import ModelError

_LONGEST_FILE = 1 << 27  # bytes: several times the largest published; parsed it takes tens of times as much
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Encoding:
    """token_ids, and for each its (start, end) in characters of the text."""

    token_ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Tokenizer:
    """A Hugging Face fast tokenizer (tokenizer.json)."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ModelError(f"{path} is missing: a checkpoint folder needs the fast tokenizer's tokenizer.json")
        if (size := path.stat().st_size) > _LONGEST_FILE:
            raise ModelError(f"{path} is {size:,} bytes long: no tokenizer has one of more than {_LONGEST_FILE:,}")
        try:
            self._tokenizer = HFTokenizer.from_file(str(path))
            self._encoder = HFTokenizer.from_str(_all_special(path))
        except Exception as error:  # the library raises bare Exception for every kind of damage
            raise ModelError(f"{path} cannot be read as a tokenizer: {error}") from error
        self._encoder.no_truncation()
        self._encoder.no_padding()
        # A document that contains "[SEP]" or "<|im_end|>" must not be able to end the prompt's part it stands in.
        self._encoder.encode_special_tokens = True

    @property
    def size(self) -> int:
        """How many rows an embedding needs for it: one more than the largest token id, added tokens included."""
        return 1 + max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def encode(self, text: str) -> Encoding:
        """The text's tokens, without any special token added or recognised."""
        with panics_named():
            encoding = self._encoder.encode(_encodable(text), add_special_tokens=False)
        return Encoding(tuple(encoding.ids), tuple(encoding.offsets))

    def encode_many(self, texts: Sequence[str]) -> tuple[Encoding, ...]:
        """``encode`` of each text, in parallel."""
        with panics_named():
            encodings = self._encoder.encode_batch([_encodable(t) for t in texts], add_special_tokens=False)
        return tuple(Encoding(tuple(e.ids), tuple(e.offsets)) for e in encodings)

    def count(self, text: str) -> int:
        """Number of tokens of the text."""
        return len(self.encode(text).token_ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of the tokens, special ones left out."""
        with panics_named():
            return str(self._tokenizer.decode(list(token_ids), skip_special_tokens=True))

    def token(self, token_id: int) -> str:
        """The token as the vocabulary writes it (``##ing``, ``Ġthe``)."""
        return str(self._tokenizer.id_to_token(token_id) or "")

    def id_of(self, token: str) -> int:
        """The id of a token that must exist; ModelError otherwise."""
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise ModelError(f"the tokenizer has no token {token!r}")
        return int(found)


@contextmanager
def panics_named() -> Iterator[None]:
    """A panic of the library's, which is no Exception and would end whatever thread it meets, as ModelError.

    It panics where a pattern of tokenizer.json needs more steps on a text than its regular expressions allow.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = f"the tokenizer cannot read or write this text ({error}): a pattern in it is at fault"
        raise ModelError(reason) from None


def _all_special(path: Path) -> str:
    """tokenizer.json with every added token marked special, so that none is recognised in a text.

    Chat templates also use added tokens that are not marked so (``<tool_call>``). Runs of white space stay as they are:
    tokenizers of code have them as added tokens for ordinary text.
    """
    parts = json.loads(path.read_text("utf-8"))
    for token in parts.get("added_tokens") or ():
        token["special"] = token["special"] or bool(token["content"].strip())
    return json.dumps(parts)


def _encodable(text: str) -> str:
    """The text with lone surrogates, which are no characters, replaced one for one: offsets stay."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
