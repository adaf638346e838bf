"""A tokenizer whose pattern fails raises an exception that can be caught, not a panic."""

from __future__ import annotations

import pytest
from tokenizers import Regex, models, pre_tokenizers
from tokenizers import Tokenizer as LibraryTokenizer

from model.errors import ModelError
from retrieval.chunking.token_counting import TokenizerCounter


def test_a_pattern_that_takes_for_ever_is_an_error_that_can_be_caught() -> None:
    made = LibraryTokenizer(models.BPE(vocab={"a": 0, "!": 1}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("(a+)+$"), behavior="isolated")
    counter = TokenizerCounter(made.to_str())
    assert counter(["aa", "a"]) == (2, 1)
    with pytest.raises(ModelError, match="retry-limit-in-match"):
        counter(["a", "a" * 40 + "!"])
