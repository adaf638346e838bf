"""The embedded reader's special tokens: unused tokens of MiniLM, which no text contains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from model.checkpoints.minilm import minilm_tokenizer
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError

MAX_CHUNKS = 8
NO_ANSWER_TEXT = "The documents do not answer this."


@dataclass(frozen=True, slots=True)
class ReaderVocabulary:
    """The tokenizer and the IDs of special tokens.

    begin: [CLS]. separator: [SEP], also the end token of an answer. chunks: chunks[n - 1] opens chunk n. no_answer: the
    only token of an answer that declines. It is the begin token, which the reader copies.
    """

    tokenizer: Tokenizer
    begin: int
    separator: int
    chunks: tuple[int, ...]
    no_answer: int


@cache
def reader_vocabulary() -> ReaderVocabulary:
    """Return the vocabulary from the pinned MiniLM package, which is loaded once per process.

    Raises ModelError if the package is missing or differs from the published one.
    """
    tokenizer = minilm_tokenizer()
    if tokenizer.size != 30522:
        raise ModelError(f"MiniLM's tokenizer has {tokenizer.size} tokens, 30522 are expected: reinstall the package")
    return ReaderVocabulary(
        tokenizer,
        begin=tokenizer.id_of("[CLS]"),
        separator=tokenizer.id_of("[SEP]"),
        chunks=tuple(tokenizer.id_of(f"[unused{n}]") for n in range(1, MAX_CHUNKS + 1)),
        no_answer=tokenizer.id_of("[CLS]"),
    )
