"""The embedded reader's markers: unused tokens of MiniLM, to which no text is ever encoded."""

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
    """The tokenizer and its special ids.

    begin: [CLS]. separator: [SEP], also the end of an answer. chunks[n - 1] opens chunk n. no_answer: the entire answer
    of a reader that declines; it is the begin token, which the reader points at.
    """

    tokenizer: Tokenizer
    begin: int
    separator: int
    chunks: tuple[int, ...]
    no_answer: int


@cache
def reader_vocabulary() -> ReaderVocabulary:
    """Load from the pinned MiniLM package, once per process.

    Raises ModelError if it is missing or not the published one.
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
