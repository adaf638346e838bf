"""Pair rows (a claim with one or more windows of evidence) and how they become padded batches of about equal size."""

from __future__ import annotations

import hashlib
import math
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import ModelError

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class PairRow:
    """windows: token ids of [CLS] question [SEP] claim [SEP] evidence [SEP], one for each window of the evidence.

    Question and claim stand at the same places in all of them. wrong: for each token of the first window 1 (a claim
    token that makes it unsupported), 0 (a claim token that does not) or UNKNOWN (everything else); empty where nothing
    is known. It holds for the claim as read against all of the evidence, so for whichever window decides. weight: of
    this row in the loss.
    """

    windows: tuple[tuple[int, ...], ...]
    supported: bool
    wrong: tuple[int, ...] = ()
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.windows or not all(self.windows):
            raise ModelError("a pair row needs at least one window, none of them empty")
        if self.wrong and len(self.wrong) != len(self.windows[0]):
            raise ModelError("wrong words must be given for every token of the first window or for none")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ModelError(f"the weight of a pair row is {self.weight}: it must be positive")

    @property
    def longest(self) -> int:
        """Tokens of the longest window."""
        return max(map(len, self.windows))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """token_ids (W, T); owner (W): the row of each window; supported, weights (B); wrong (W, T): 0, 1 or UNKNOWN, each
    row's labels on all of its windows."""

    token_ids: Tensor
    owner: Tensor
    supported: Tensor
    weights: Tensor
    wrong: Tensor

    def to(self, device: torch.device) -> PairBatch:
        """The batch on another device."""
        return PairBatch(*(getattr(self, name).to(device) for name in self.__slots__))


def collate_pairs(rows: Sequence[PairRow], pad: int = 0) -> PairBatch:
    """Pad rows to one batch."""
    total = max(row.longest for row in rows)
    count = sum(len(row.windows) for row in rows)
    token_ids = torch.full((count, total), pad)
    wrong = torch.full((count, total), UNKNOWN)
    owner: list[int] = []
    for index, row in enumerate(rows):
        for window in row.windows:
            if row.wrong:
                known = row.wrong[: len(window)]
                wrong[len(owner), : len(known)] = torch.tensor(known)
            token_ids[len(owner), : len(window)] = torch.tensor(window)
            owner.append(index)
    supported = torch.tensor([float(row.supported) for row in rows])
    weights = torch.tensor([row.weight for row in rows])
    return PairBatch(token_ids, torch.tensor(owner), supported, weights, wrong)


def plan_pair_batches(rows: Sequence[PairRow], *, tokens: int, epochs: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Row indices of every batch of the whole run, in order: a function of the rows, the limit and the seed alone.

    Rows are sorted by their longest window with a little noise, cut where padding would pass ``tokens`` positions, and
    the batches are shuffled.
    """
    out: list[tuple[int, ...]] = []
    for epoch in range(epochs):
        rng = random.Random(f"{seed}:{epoch}")
        order = sorted(range(len(rows)), key=lambda i: rows[i].longest * (1 + 0.1 * rng.random()))
        batches: list[tuple[int, ...]] = []
        current: list[int] = []
        longest = windows = 0
        for index in order:
            row = rows[index]
            length, count = max(longest, row.longest), windows + len(row.windows)
            if current and length * count > tokens:
                batches.append(tuple(current))
                current, length, count = [], row.longest, len(row.windows)
            current.append(index)
            longest, windows = length, count
        if current:
            batches.append(tuple(current))
        rng.shuffle(batches)
        out.extend(batches)
    return tuple(out)


def pair_rows_sha256(rows: Sequence[PairRow]) -> str:
    """SHA-256 (hex) of the rows: tells whether a run may be resumed on them."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(array("i", (len(row.windows), int(row.supported), *row.wrong)).tobytes())
        digest.update(array("d", (row.weight,)).tobytes())
        for window in row.windows:
            digest.update(array("i", (len(window), *window)).tobytes())
    return digest.hexdigest()
