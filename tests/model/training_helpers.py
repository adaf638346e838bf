"""Helpers for tests of training: an interrupted run, training rows, comparison of weights, a full disk."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.training.loop import TrainProgress
from model.training.pretrain import PretrainProgress
from model.training.rows import TokenRow


class KilledError(Exception):
    """Raised in place of the end of the process."""


def build(config: DecoderConfig, seed: int = 0) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Decoder(config)


def some_rows(count: int, seed: int = 0) -> list[TokenRow]:
    random = torch.Generator().manual_seed(seed)

    def draw(low: int, high: int) -> tuple[int, ...]:
        size = int(torch.randint(low, high, (1,), generator=random))
        return tuple(torch.randint(1, 41, (size,), generator=random).tolist())

    return [TokenRow(draw(2, 9), draw(1, 4)) for _ in range(count)]


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@contextmanager
def full_disk(step: int, file_bytes: int) -> Iterator[Callable[[TrainProgress | PretrainProgress], None]]:
    """Yield a progress callback that limits files to ``file_bytes`` from ``step`` on. The limit is removed at the end.

    The limit on file sizes simulates a full disk: writes fail in the middle with the same kind of error.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(progress: TrainProgress | PretrainProgress) -> None:
        if progress.step == step:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))

    try:
        yield fill
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
