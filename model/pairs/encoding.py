"""Build the token ids of pairs from texts that are encoded once each, because many pairs share their evidence.

The frame (special tokens before, between and after the texts) is derived from the tokenizer's encoding of a pair of
probe texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.checkpoints.tokenizer import panics_as_errors
from model.errors import ModelError
from model.pairs.presets import Layout

_TEXTS_AT_ONCE = 1000
"""Texts encoded per call. A limit is needed because encodings take a hundred times the memory of their texts."""
_PROBES = ("a", "b c")


@dataclass(frozen=True, slots=True)
class PairFrame:
    """The special tokens around two texts.

    types: type ids of the five parts (before, first text, between, second text, after); None if the model has none.
    """

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int, int, int, int] | None

    @property
    def tokens(self) -> int:
        """Number of special tokens of a pair."""
        return len(self.before) + len(self.between) + len(self.after)

    def ids(self, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """Return the token ids of a pair of encoded texts."""
        return [*self.before, *first, *self.between, *second, *self.after]

    def type_ids(self, first: int, second: int) -> list[int]:
        """Return the type ids of a pair of texts with these numbers of tokens; empty if the model has none."""
        if self.types is None:
            return []
        sizes = (len(self.before), first, len(self.between), second, len(self.after))
        return [kind for kind, size in zip(self.types, sizes, strict=True) for _ in range(size)]


def read_frame(tokenizer: Any, layout: Layout, where: str) -> PairFrame:
    """Return the frame of a tokenizer. Raises ModelError if its pairs are not two texts in a frame.

    where: the checkpoint, for messages.
    """
    typed = "token_type_ids" in tokenizer.model_input_names
    if layout == "joined":
        single = tokenizer(_PROBES[0], return_token_type_ids=typed)
        indices = [i for i, s in enumerate(single.sequence_ids(0)) if s is not None]
        if tokenizer.eos_token_id is None and tokenizer.sep_token_id is None:
            raise ModelError(f"{where}: its tokenizer has no end token to join document and claim with")
        end = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
        ids = single["input_ids"]
        kinds = (0, 0, 0, 0, 0) if typed else None
        return PairFrame(tuple(ids[: indices[0]]), (int(end),), tuple(ids[indices[-1] + 1 :]), kinds)
    pair = tokenizer(*_PROBES, return_token_type_ids=typed)
    ids, sides = pair["input_ids"], pair.sequence_ids(0)
    one = [i for i, s in enumerate(sides) if s == 0]
    two = [i for i, s in enumerate(sides) if s == 1]
    if not one or not two or one[-1] > two[0]:
        raise ModelError(f"{where}: its tokenizer does not encode two texts one after the other")
    kinds_of = pair["token_type_ids"] if typed else []
    types = None
    if typed:
        between = kinds_of[one[-1] + 1] if two[0] > one[-1] + 1 else kinds_of[one[-1]]
        types = (kinds_of[0], kinds_of[one[0]], between, kinds_of[two[0]], kinds_of[-1])
    frame = PairFrame(tuple(ids[: one[0]]), tuple(ids[one[-1] + 1 : two[0]]), tuple(ids[two[-1] + 1 :]), types)
    alone = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in _PROBES]
    if frame.ids(*alone) != list(ids) or frame.type_ids(len(alone[0]), len(alone[1])) != list(kinds_of):
        raise ModelError(f"{where}: its tokenizer encodes a pair differently from its two texts")
    return frame


def encode_texts(tokenizer: Any, texts: Iterable[str]) -> dict[str, list[int]]:
    """Return the token ids of each distinct text, without special tokens or truncation."""
    distinct = list(dict.fromkeys(texts))
    found: dict[str, list[int]] = {}
    for start in range(0, len(distinct), _TEXTS_AT_ONCE):
        block = distinct[start : start + _TEXTS_AT_ONCE]
        with panics_as_errors():
            encoded = tokenizer(
                block, add_special_tokens=False, truncation=False, verbose=False, return_attention_mask=False
            )
        found.update(zip(block, encoded["input_ids"], strict=True))
    return found


def padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    """Return the rows as a tensor (B, T), padded on the right with ``filler``."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], dtype=torch.long)
