"""Token rows, and their padded batches of about equal size."""

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
    """A prompt and the answer to learn after it, as token ids; the answer ends with the end token."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.prompt or not self.answer:
            raise ModelError("a training row needs at least one prompt token and one answer token")

    @property
    def length(self) -> int:
        """Number of positions: the last answer token is predicted but never read."""
        return len(self.prompt) + len(self.answer) - 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Right-padded rows. token_ids (B, T), prompt_lengths (B), lengths (B); reads (B, A): the position whose state
    predicts each answer token; targets (B, A); weights (B, A): 1 for an answer token, 0 for padding."""

    token_ids: Tensor
    prompt_lengths: Tensor
    lengths: Tensor
    reads: Tensor
    targets: Tensor
    weights: Tensor

    def to(self, device: torch.device) -> Batch:
        """The batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__slots__))


def collate(rows: Sequence[TokenRow], pad: int = 0) -> Batch:
    """Pad rows to one batch."""
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
    """Row indices of every batch of an epoch, in order: a function of the rows, the limits, seed and epoch alone.

    Rows are sorted by length with a little noise, split where padding would exceed ``tokens`` positions or
    ``answer_tokens`` answer positions (which the vocabulary softmax is computed for), and the batches are shuffled.
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
    """SHA-256 (hex) of the rows' ids: determines whether a run may be resumed on them."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(array("i", (len(row.prompt), len(row.answer), *row.prompt, *row.answer)).tobytes())
    return digest.hexdigest()
