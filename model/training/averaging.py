"""The mean of a run's weights and those it began from: often better than either, on what neither was tuned on."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from model.errors import ModelError


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the model's state, which training leaves as it is."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@torch.no_grad()
def average_with(model: nn.Module, start: Mapping[str, Tensor], share: float) -> None:
    """``share`` of ``start`` and the rest of ``model``'s own weights, in place (Wortsman et al. 2022, WiSE-FT, eq. 1).

    start: a state of the same network, on any device; 0 leaves the model as it is, 1 makes it ``start``. Meant for a
    start that the run went on from: means of weights far apart can be worse than both. Raises ModelError for a share
    outside [0, 1] and for a start of another network (a tensor missing, too many, or of another shape).
    """
    if not 0 <= share <= 1:  # nor NaN
        raise ModelError(f"the share of the starting weights is {share}: it must be in [0, 1]")
    own = model.state_dict()
    if apart := sorted(own.keys() ^ start.keys()) or sorted(n for n in own if own[n].shape != start[n].shape):
        raise ModelError(f"the starting weights are another network's: {', '.join(apart[:5])}")
    for name, tensor in own.items():
        tensor.copy_(torch.lerp(tensor, start[name].to(tensor), share))
