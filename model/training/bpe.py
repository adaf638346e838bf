"""Train a byte-level BPE tokenizer (Sennrich et al. 2016 on bytes, Radford et al. 2019), and write its files.

Encoding is lossless: the base vocabulary has 256 byte tokens and nothing is normalised. Digits are separate tokens,
because a reader copies years and amounts, and a merge could cover half of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as HFTokenizer
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from model.checkpoints.files import write_atomic
from model.errors import ModelError

END = "<|end_of_text|>"
"""Token after every document, before every prompt and after every answer."""

END_ID, PAD_ID = 0, 1
SPECIAL = (END, "<|pad|>", *(f"<|reserved_{n}|>" for n in range(6)))
"""Tokens of the first ids. The reserved ones are markers for fine-tuning that no text can produce."""

SMALLEST_VOCABULARY = 256 + len(SPECIAL)
LARGEST_VOCABULARY = 2**16
"""Maximum number of tokens, because token ids are stored in two bytes."""


def train_bpe(texts: Iterable[str], vocabulary: int) -> bytes:
    """Return the tokenizer.json of a byte-level BPE with at most ``vocabulary`` tokens, including special ones.

    The result does not depend on the order of the texts. Short texts give a smaller vocabulary. Raises ModelError if
    ``vocabulary`` is too small for all bytes or too large for ids of two bytes.
    """
    if not SMALLEST_VOCABULARY <= vocabulary <= LARGEST_VOCABULARY:
        raise ModelError(
            f"a vocabulary of {vocabulary} tokens: it must be between {SMALLEST_VOCABULARY} (every byte and the "
            f"special tokens) and {LARGEST_VOCABULARY} (ids of two bytes)"
        )
    tokenizer = HFTokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    # In training a document follows the end token of another one, so a prompt starts with that token too.
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{END} $A", pair=f"{END} $A $B", special_tokens=[(END, END_ID)]
    )
    return (tokenizer.to_str(pretty=True) + "\n").encode()


def tokenizer_config(positions: int) -> dict[str, object]:
    """Return a tokenizer_config.json for transformers. positions: length of the context."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": END,
        "eos_token": END,
        "pad_token": SPECIAL[PAD_ID],
        "clean_up_tokenization_spaces": False,
        "model_max_length": positions,
    }


class BpeEncoder:
    """A fast encoder of texts to arrays of ids, without offsets. Special tokens in a text are treated as text.

    Raises ModelError, naming the file, if it is not a tokenizer of ``train_bpe``.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._tokenizer = HFTokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for all damage
            raise ModelError(f"{path} cannot be read as a tokenizer: {error}") from error
        if self._tokenizer.token_to_id(END) != END_ID:
            raise ModelError(f"{path} does not begin with {END}: it is not a tokenizer of a pretraining run")
        if not SMALLEST_VOCABULARY <= self.size <= LARGEST_VOCABULARY:
            raise ModelError(f"{path} has {self.size} tokens: ids of two bytes reach {LARGEST_VOCABULARY}")
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    @property
    def size(self) -> int:
        """Number of tokens."""
        return int(self._tokenizer.get_vocab_size(with_added_tokens=True))

    def encode_many(self, texts: Sequence[str]) -> list[NDArray[np.uint16]]:
        """Return the ids of each text, without an end token."""
        clean = [text.encode("utf-8", "replace").decode() for text in texts]  # replaces unpaired surrogates
        encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        return [np.asarray(encoding.ids, dtype=np.uint16) for encoding in encodings]

    def token_bytes(self) -> tuple[int, ...]:
        """Return the number of UTF-8 bytes of each token; 0 for special tokens."""
        # In byte-level BPE each character of a token's name stands for one byte.
        names = (str(self._tokenizer.id_to_token(token)) for token in range(len(SPECIAL), self.size))
        return (*(0 for _ in SPECIAL), *(len(name) for name in names))


def write_tokenizer(folder: Path, tokenizer_json: bytes, positions: int) -> None:
    """Write tokenizer.json and tokenizer_config.json to ``folder``."""
    write_atomic(folder / "tokenizer.json", tokenizer_json)
    config = json.dumps(tokenizer_config(positions), indent=2, sort_keys=True) + "\n"
    write_atomic(folder / "tokenizer_config.json", config.encode())
