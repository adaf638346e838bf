"""Next-token loss on a held-out stream: per token, and per byte of text, which is comparable between tokenizers."""

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
    """nats: the sum of -log p over ``tokens`` predicted tokens, which represent ``text_bytes`` bytes of UTF-8.

    End tokens are predicted and represent no byte: the loss per byte includes the cost of ending documents.
    """

    nats: float
    tokens: int
    text_bytes: int

    @property
    def loss(self) -> float:
        """Nats per token."""
        return self.nats / self.tokens

    @property
    def perplexity(self) -> float:
        """exp of the loss: the equivalent number of equally likely tokens."""
        return math.exp(self.loss)

    @property
    def bits_per_byte(self) -> float | None:
        """Bits per byte of text; comparable between tokenizers. None without any text."""
        return self.nats / math.log(2) / self.text_bytes if self.text_bytes else None

    @property
    def byte_perplexity(self) -> float | None:
        """2 to the bits per byte; None without any text."""
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
    """The loss on the first ``tokens`` tokens of the stream, each predicted once; None for an empty stream.

    Windows of ``context`` tokens are consecutive and independent, so that a token is predicted from between 0 and
    ``context`` - 1 tokens of its window and the one before it. token_bytes: number of bytes of each id.
    """
    count = min(tokens, len(stream))
    if count < 1:
        return None
    was_training = model.training
    model.eval()
    # The first token of the stream is predicted from an end token, as every document's first is.
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
