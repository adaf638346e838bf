"""Build the pre-tokenizer of byte-level BPE for each supported value of tokenizer.ggml.pre.

The patterns are those that the model families publish in their tokenizer.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokenizers import Regex
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
_QWEN2 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_REST}"


@dataclass(frozen=True, slots=True)
class PreTokenization:
    """Settings of a pre-tokenizer.

    pattern: split pattern; None for that of GPT-2, which is built into ByteLevel. single_digits: whether digits are
    split from each other. ignore_merges: whether a word in the vocabulary is one token regardless of the merges.
    adds_bos: whether a begin-of-sequence token is added by default.
    """

    pattern: str | None = None
    single_digits: bool = False
    ignore_merges: bool = False
    adds_bos: bool = False

    def build(self) -> PreTokenizer:
        """Build the pre-tokenizer for ``tokenizers``."""
        if self.pattern is not None:
            split = Split(Regex(self.pattern), behavior="isolated")
            return Sequence([split, ByteLevel(add_prefix_space=False, use_regex=False)])
        if self.single_digits:
            return Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
        return ByteLevel(add_prefix_space=False)


_GPT2 = PreTokenization()
_DIGITS = PreTokenization(single_digits=True)
_LLAMA_BPE = PreTokenization(_LLAMA3, ignore_merges=True, adds_bos=True)
_QWEN = PreTokenization(_QWEN2)
PRE_TOKENIZERS: Mapping[str, PreTokenization] = {
    "gpt-2": _GPT2,
    "smollm": _DIGITS,
    "starcoder": _DIGITS,
    "refact": _DIGITS,
    "llama-bpe": _LLAMA_BPE,
    "llama3": _LLAMA_BPE,
    "llama-v3": _LLAMA_BPE,
    "smaug-bpe": PreTokenization(_LLAMA3),
    "qwen2": _QWEN,
    "deepseek-r1-qwen": _QWEN,
}
