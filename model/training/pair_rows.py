"""Training rows of a verifier (claims with one or more windows of evidence), and their padded batches."""

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
class RowClaim:
    """A claim of a row.

    start, end: token span of the claim in every window of the row. supported: whether the evidence supports it. wrong:
    for each of its tokens 1 (it makes the claim unsupported), 0 (it does not) or UNKNOWN; empty if nothing is known. It
    refers to all of the evidence and therefore to every window. weight: weight of this claim in the loss. target:
    support in [0, 1] to learn from teachers; None uses ``supported``. Raises ModelError for invalid values.
    """

    start: int
    end: int
    supported: bool
    wrong: tuple[int, ...] = ()
    weight: float = 1.0
    target: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ModelError(f"a claim of a row needs tokens, it has those from {self.start} to {self.end}")
        if self.wrong and len(self.wrong) != self.end - self.start:
            raise ModelError("wrong words must be given for every token of the claim or for none")
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ModelError(f"the weight of a claim is {self.weight}: it must be positive")
        if self.target is not None and not 0 <= self.target <= 1:  # also refuses NaN
            raise ModelError(f"the target of a claim is {self.target}: it must be in [0, 1]")


@dataclass(frozen=True, slots=True)
class PairRow:
    """A training row: one claim, or several claims that are read together, with the windows of their evidence.

    windows: token ids of [CLS] question [SEP] claims [SEP] evidence [SEP] for each window; question and claims are at
    the same positions in all of them. claims: in order, without overlap. source: name of the data set, which is not
    learned. Raises ModelError for invalid values.
    """

    windows: tuple[tuple[int, ...], ...]
    claims: tuple[RowClaim, ...]
    source: str = ""

    def __post_init__(self) -> None:
        if not self.windows or not all(self.windows):
            raise ModelError("a pair row needs at least one window, none of them empty")
        if not self.claims:
            raise ModelError("a pair row needs at least one claim")
        end = 0
        for claim in self.claims:
            if claim.start < end:
                raise ModelError("the claims of a pair row must be consecutive")
            end = claim.end
        if end > min(map(len, self.windows)):
            raise ModelError(f"a claim ends at token {end} of a window of {min(map(len, self.windows))}")

    @property
    def longest(self) -> int:
        """Number of tokens of the longest window."""
        return max(map(len, self.windows))


@dataclass(frozen=True, slots=True)
class PairBatch:
    """A batch of C claims in W windows. A reading is a claim in one of its windows; there are R.

    token_ids: (W, T). reading_index: (W, T), reading to which a token belongs, -1 for none. window, claim: (R), window
    and claim of each reading. supported: (C), a claim's target if it has one, else 0 or 1. weights: (C). wrong: (W, T),
    0, 1 or UNKNOWN; the labels of a claim are repeated in all of its windows.
    """

    token_ids: Tensor
    reading_index: Tensor
    window: Tensor
    claim: Tensor
    supported: Tensor
    weights: Tensor
    wrong: Tensor

    def to(self, device: torch.device) -> PairBatch:
        """Return the batch on another device."""
        return PairBatch(*(getattr(self, name).to(device) for name in self.__slots__))


def collate_pairs(rows: Sequence[PairRow], pad: int = 0) -> PairBatch:
    """Return the rows as one batch, right-padded with ``pad``."""
    shape = (sum(len(row.windows) for row in rows), max(row.longest for row in rows))
    token_ids = torch.full(shape, pad)
    index, wrong = torch.full(shape, -1), torch.full(shape, UNKNOWN)
    windows: list[int] = []
    claims: list[int] = []
    line = first = 0
    for row in rows:
        for window in row.windows:
            token_ids[line, : len(window)] = torch.tensor(window)
            for number, claim in enumerate(row.claims, first):
                index[line, claim.start : claim.end] = len(windows)
                if claim.wrong:
                    wrong[line, claim.start : claim.end] = torch.tensor(claim.wrong)
                windows.append(line)
                claims.append(number)
            line += 1
        first += len(row.claims)
    every = [claim for row in rows for claim in row.claims]
    supported = torch.tensor([float(c.supported) if c.target is None else c.target for c in every])
    weights = torch.tensor([claim.weight for claim in every])
    return PairBatch(token_ids, index, torch.tensor(windows), torch.tensor(claims), supported, weights, wrong)


def pair_batches(rows: Sequence[PairRow], *, tokens: int, seed: int, epoch: int) -> tuple[tuple[int, ...], ...]:
    """Return the row indices of each batch of an epoch, in order. The result depends on the arguments only.

    Rows are sorted by their longest window with a little noise and split into batches of at most ``tokens`` positions,
    including padding (except a single larger row). The batches are shuffled.
    """
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
    return tuple(batches)


def pair_rows_sha256(rows: Sequence[PairRow]) -> str:
    """Return the SHA-256 (hex) of the content that is learned. A run resumes only on rows with the same hash."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(array("i", (len(row.windows), len(row.claims))).tobytes())
        for claim in row.claims:
            digest.update(array("i", (claim.start, claim.end, int(claim.supported), *claim.wrong)).tobytes())
            digest.update(array("d", (claim.weight, *(() if claim.target is None else (claim.target,)))).tobytes())
        for window in row.windows:
            digest.update(array("i", (len(window), *window)).tobytes())
    return digest.hexdigest()
