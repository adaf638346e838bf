"""Measure the next-token loss on a held-out stream, per token and per byte of text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.decoder.decoder import Decoder
from model.training.pretrain_corpus import TokenStream


@dataclass(frozen=True, slots=True)
class Validation:
    """Loss on a held-out stream.

    nats: sum of -log p over the predicted tokens. tokens: number of predicted tokens. text_bytes: number of UTF-8 bytes
    that they represent. End tokens are predicted but represent no byte, so the loss per byte includes their cost.
    """

    nats: float
    tokens: int
    text_bytes: int

    @property
    def loss(self) -> float:
        """Loss in nats per token."""
        return self.nats / self.tokens

    @property
    def perplexity(self) -> float:
        """Perplexity per token, exp(loss)."""
        return math.exp(self.loss)

    @property
    def bits_per_byte(self) -> float | None:
        """Loss in bits per byte of text, which is comparable between tokenizers; None without text."""
        return self.nats / math.log(2) / self.text_bytes if self.text_bytes else None

    @property
    def byte_perplexity(self) -> float | None:
        """Perplexity per byte, 2 to the power of the bits per byte; None without text."""
        bits = self.bits_per_byte
        return None if bits is None else 2.0**bits


@torch.no_grad()
def validate(
    model: Decoder,
    stream: TokenStream,
    token_bytes: Sequence[int],
    *,
    context: int,
    end_id: int,
    tokens: int,
    bf16: bool,
    windows_at_once: int = 8,
) -> Validation | None:
    """Return the loss on the first ``tokens`` tokens of the stream, each predicted once; None for an empty stream.

    Windows of ``context`` tokens are consecutive and independent, so that a token is predicted from at most ``context``
    tokens. token_bytes: number of bytes of each id. end_id: id of the end token. bf16: whether to use bf16 autocast.
    windows_at_once: windows of one forward pass.
    """
    count = min(tokens, len(stream))
    if count < 1:
        return None
    was_training = model.training
    model.eval()
    # The first token of the stream is predicted from an end token, like the first token of every other document.
    ids = torch.from_numpy(np.concatenate(([end_id], stream.read(0, count))))
    windows = count // context
    groups = [ids[: windows * context + 1].unfold(0, context + 1, context)] if windows else []
    batches: list[Tensor] = [part for group in groups for part in torch.split(group, windows_at_once)]
    if count % context:
        batches.append(ids[None, windows * context :])
    nats = 0.0
    for batch in batches:
        batch = batch.to(model.device)
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bf16):
            logprobs = model.target_logprobs(model(batch[:, :-1]), batch[:, 1:])
        nats -= float(logprobs.double().sum())
    model.train(was_training)
    stands_for = torch.tensor(token_bytes)
    return Validation(nats, count, int(stands_for[ids[1:]].sum()))
