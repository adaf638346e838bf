"""Text into the words that BM25 counts. Knows nothing of how they are weighted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import Stemmer

# Letters and digits of any script; punctuation, white space and the underscore separate.
_WORD = re.compile(r"[^\W_]+")
# The words that English text is held together by, and what an apostrophe leaves behind ("it's", "don't", "we'll").
_ENGLISH_STOP_WORDS = frozenset(
    _WORD.findall("""
    a an and are as at be been but by did do does for from had has have he her his how i if in into is it its me my no
    not of on or our she so such than that the their them then there these they this to us was we were what when where
    which who whom whose why will with you your s t ll re ve d m
    """)
)


@dataclass(frozen=True, slots=True)
class TokenisingParams:
    """stemming: English words to their stems (Snowball's "english"). stop_words: leave out words that only bind."""

    stemming: Literal["english", "none"] = "english"
    stop_words: Literal["english", "none"] = "english"

    def __post_init__(self) -> None:
        for name, value in (("stemming", self.stemming), ("stop_words", self.stop_words)):
            if value not in ("english", "none"):
                raise ValueError(f"{name} must be 'english' or 'none', not {value!r}")


def tokenise(text: str, params: TokenisingParams) -> tuple[str, ...]:
    """Lower-case words of the text in order; may be empty. The same parameters must serve the index and the query."""
    return next(iter(tokenise_all((text,), params)))


def tokenise_all(texts: Iterable[str], params: TokenisingParams) -> Iterable[tuple[str, ...]]:
    """``tokenise`` for many texts, lazily."""
    # A Stemmer keeps a cache and is not safe to share between threads, so every call has its own.
    stem = Stemmer.Stemmer("english").stemWords if params.stemming == "english" else None
    stop = _ENGLISH_STOP_WORDS if params.stop_words == "english" else frozenset[str]()
    for text in texts:
        # NFKC first: the same word typed with combining accents, ligatures or full-width letters must be one token.
        words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
        kept = [word for word in words if word not in stop]
        yield tuple(stem(kept) if stem is not None else kept)
