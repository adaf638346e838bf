"""Training rows of a reader or decoder (prompt and answer), and their padded batches."""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import ModelError


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A prompt and the answer to learn, as token ids. The answer ends with the end token.

    Raises ModelError if one of them is empty.
    """

    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.prompt or not self.answer:
            raise ModelError("a training row needs at least one prompt token and one answer token")

    @property
    def length(self) -> int:
        """Number of positions. The last answer token is predicted but not read."""
        return len(self.prompt) + len(self.answer) - 1


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of right-padded rows.

    token_ids: (B, T). prompt_lengths, lengths: (B). reads: (B, A), position whose state predicts each answer token.
    targets: (B, A), the answer tokens. weights: (B, A), 1 for an answer token, 0 for padding.
    """

    token_ids: Tensor
    prompt_lengths: Tensor
    lengths: Tensor
    reads: Tensor
    targets: Tensor
    weights: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__slots__))


def collate(rows: Sequence[TokenRow], pad: int = 0) -> Batch:
    """Return the rows as one batch, right-padded with ``pad``."""
    total = max(row.length for row in rows)
    answers = max(len(row.answer) for row in rows)
    token_ids = torch.full((len(rows), total), pad)
    reads = torch.zeros((len(rows), answers), dtype=torch.long)
    targets = torch.zeros((len(rows), answers), dtype=torch.long)
    weights = torch.zeros((len(rows), answers))
    for index, row in enumerate(rows):
        token_ids[index, : row.length] = torch.tensor(row.prompt + row.answer[:-1])
        count, first = len(row.answer), len(row.prompt) - 1
        reads[index, :count] = torch.arange(first, first + count)
        targets[index, :count] = torch.tensor(row.answer)
        weights[index, :count] = 1.0
    prompt_lengths = torch.tensor([len(row.prompt) for row in rows])
    lengths = torch.tensor([row.length for row in rows])
    return Batch(token_ids, prompt_lengths, lengths, reads, targets, weights)


def row_batches(
    rows: Sequence[TokenRow], *, tokens: int, answer_tokens: int, seed: int, epoch: int
) -> tuple[tuple[int, ...], ...]:
    """Return the row indices of each batch of an epoch, in order. The result depends on the arguments only.

    Rows are sorted by length with a little noise and split into batches of at most ``tokens`` positions and
    ``answer_tokens`` answer positions, for which the softmax over the vocabulary is computed. Padding counts, and a
    single larger row is a batch. The batches are shuffled.
    """
    rng = random.Random(f"{seed}:{epoch}")
    order = sorted(range(len(rows)), key=lambda i: rows[i].length * (1 + 0.1 * rng.random()))
    batches: list[tuple[int, ...]] = []
    current: list[int] = []
    longest = widest = 0
    for index in order:
        row = rows[index]
        length, width = max(longest, row.length), max(widest, len(row.answer))
        size = len(current) + 1
        if current and (length * size > tokens or width * size > answer_tokens):
            batches.append(tuple(current))
            current, length, width = [], row.length, len(row.answer)
        current.append(index)
        longest, widest = length, width
    if current:
        batches.append(tuple(current))
    rng.shuffle(batches)
    return tuple(batches)


def rows_sha256(rows: Sequence[TokenRow]) -> str:
    """Return the SHA-256 (hex) of the rows' token ids. A run resumes only on rows with the same hash."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(array("i", (len(row.prompt), len(row.answer), *row.prompt, *row.answer)).tobytes())
    return digest.hexdigest()
