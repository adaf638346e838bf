"""Weights in 8 bits: each output channel of a matrix with a scale of its own, activations as they are.

w ~ s_o q with q in -127 .. 127 and s_o = max_i |w_oi| / 127 (symmetric, round to nearest; per-channel weight
quantisation as in Krishnamoorthi 2018, section 3.1). A step then reads half of what bf16 reads. Approximate: what it
does to the logits is measured by ``logit_loss``, and it is never the default.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from model.decoder.decoder import Decoder
from model.errors import ModelError

_ROWS = 32  # above, products are limited by arithmetic, not by reading weights


@dataclass(frozen=True, slots=True)
class LogitLoss:
    """Of quantised against full weights, over positions: mean and largest difference of a centred logit, mean
    Kullback-Leibler divergence (nats), and how often the likeliest token is the same."""

    mean_difference: float
    largest_difference: float
    divergence: float
    same_best: float

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


class Int8Linear(nn.Module):
    """A linear layer whose weight (O, I) is stored as int8 with one scale an output: y = (x q^T) * s + b."""

    weight: Tensor
    scales: Tensor
    bias: Tensor | None

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight, scales = quantised(linear.weight)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.register_buffer("weight", weight)
        self.register_buffer("scales", scales.to(linear.weight.dtype))
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        flat = x.reshape(-1, self.in_features)
        if flat.device.type == "cpu" and flat.shape[0] <= _ROWS:
            out = torch._weight_int8pack_mm(flat, self.weight, self.scales)
        else:
            out = (flat @ self.weight.to(flat.dtype).t()) * self.scales
        if self.bias is not None:
            out = out + self.bias
        return out.view(*x.shape[:-1], self.out_features)


def quantised(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(O, I) -> int8 (O, I) and scales (O) in fp32; a channel of zeros has scale 1."""
    wide = weight.detach().float()
    largest = wide.abs().amax(dim=1)
    scales = torch.where(largest > 0, largest / 127.0, 1.0)
    return (wide / scales[:, None]).round().clamp(-127, 127).to(torch.int8), scales


def int8_weights(model: Decoder) -> Decoder:
    """A copy of a decoder whose blocks' linear layers are in 8 bits; embedding, norms and head stay as they are.

    Raises ModelError for a weight that is not finite.
    """
    out = copy.deepcopy(model)
    for name, module in list(out.blocks.named_modules()):
        for child_name, child in list(module.named_children()):
            if not isinstance(child, nn.Linear):
                continue
            if not bool(torch.isfinite(child.weight).all()):
                raise ModelError(f"{name}.{child_name} holds a number that is not finite: it has no scale in 8 bits")
            setattr(module, child_name, Int8Linear(child))
    return out.eval().requires_grad_(False)


def logit_loss(full: Decoder, other: Decoder, token_ids: Tensor) -> LogitLoss:
    """What other weights do to the logits of every position of token_ids (B, T)."""
    with torch.inference_mode():
        return logits_apart(*(model.logits(model(token_ids)).float().flatten(0, 1) for model in (full, other)))


def logits_apart(first: Tensor, second: Tensor) -> LogitLoss:
    """How far logits (N, V) in fp32 are from the first ones."""
    # Adding a constant to all logits changes nothing: compare them around their mean.
    apart = (first - first.mean(-1, keepdim=True)) - (second - second.mean(-1, keepdim=True))
    p, q = torch.log_softmax(first, dim=-1), torch.log_softmax(second, dim=-1)
    return LogitLoss(
        float(apart.abs().mean()),
        float(apart.abs().max()),
        float((p.exp() * (p - q)).sum(-1).mean()),
        float((first.argmax(-1) == second.argmax(-1)).float().mean()),
    )
