"""8-bit weights with one scale per output channel. Activations are not quantised.

w ~ s_o q with q in -127 .. 127 and s_o = max_i |w_oi| / 127 (symmetric, round to nearest; per-channel weight
quantisation as in Krishnamoorthi 2018, section 3.1). A step reads half of the bytes of bf16. Results are approximate,
so it is never the default. ``logit_loss`` measures the effect on the logits.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from model.decoder.decoder import Decoder
from model.errors import ModelError

_ROWS = 32  # with more rows, products are limited by arithmetic instead of by reading weights


@dataclass(frozen=True, slots=True)
class LogitLoss:
    """Differences between the logits of two models, over positions.

    mean_difference, largest_difference: absolute difference of a logit, after subtraction of each position's mean.
    divergence: mean Kullback-Leibler divergence in nats. same_best: share of positions with the same likeliest token.
    """

    mean_difference: float
    largest_difference: float
    divergence: float
    same_best: float

    def as_dict(self) -> dict[str, float]:
        """Return the fields as a JSON object."""
        return asdict(self)


class Int8Linear(nn.Module):
    """A linear layer whose weight (O, I) is int8 with one scale per output: y = (x q^T) * s + b."""

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
        """Return the layer's output (..., O) of x (..., I)."""
        flat = x.reshape(-1, self.in_features)
        if flat.device.type == "cpu" and flat.shape[0] <= _ROWS:
            out = torch._weight_int8pack_mm(flat, self.weight, self.scales)
        else:
            out = (flat @ self.weight.to(flat.dtype).t()) * self.scales
        if self.bias is not None:
            out = out + self.bias
        return out.view(*x.shape[:-1], self.out_features)


def quantised(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return a weight (O, I) as int8 (O, I) and scales (O) in fp32. A channel of zeros has scale 1."""
    wide = weight.detach().float()
    largest = wide.abs().amax(dim=1)
    scales = torch.where(largest > 0, largest / 127.0, 1.0)
    return (wide / scales[:, None]).round().clamp(-127, 127).to(torch.int8), scales


def int8_weights(model: Decoder) -> Decoder:
    """Return a copy of a decoder with 8-bit linear layers in its blocks. Embedding, norms and head are unchanged.

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
    """Compare the logits of two models at every position of token_ids (B, T)."""
    with torch.inference_mode():
        return logit_loss_between(*(model.logits(model(token_ids)).float().flatten(0, 1) for model in (full, other)))


def logit_loss_between(first: Tensor, second: Tensor) -> LogitLoss:
    """Compare logits (N, V) in fp32 of N positions."""
    # A constant added to all logits changes no probability, so the mean is subtracted.
    difference = (first - first.mean(-1, keepdim=True)) - (second - second.mean(-1, keepdim=True))
    p, q = torch.log_softmax(first, dim=-1), torch.log_softmax(second, dim=-1)
    return LogitLoss(
        float(difference.abs().mean()),
        float(difference.abs().max()),
        float((p.exp() * (p - q)).sum(-1).mean()),
        float((first.argmax(-1) == second.argmax(-1)).float().mean()),
    )
