"""Average the weights of several runs, which often generalises better than each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from model.errors import ModelError


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return a copy of the model's state that later training does not change."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@torch.no_grad()
def average_with(model: nn.Module, others: Sequence[tuple[Mapping[str, Tensor], float]]) -> None:
    """Average the model's weights with ``others`` in place. The model has the remaining share.

    others: pairs of a state of the same network, on any device, and its share. One other state with share s gives the
    mean of WiSE-FT (Wortsman et al. 2022b, eq. 1); n - 1 states with share 1/n give a uniform soup (Wortsman et al.
    2022a, section 2). The runs should have a common starting point, because the mean of distant weights can be worse
    than each of them. Raises ModelError if a share is outside [0, 1], the shares sum to more than 1, or a state is of
    another network.
    """
    for _, share in others:
        if not 0 <= share <= 1:  # also refuses NaN
            raise ModelError(f"the share of other weights is {share}: it must be in [0, 1]")
    rest = 1 - sum(share for _, share in others)
    if rest < -1e-9:
        raise ModelError(f"the shares of other weights come to {1 - rest:g}: they must not exceed 1")
    own = model.state_dict()
    for state, _ in others:
        if differing := sorted(own.keys() ^ state.keys()) or sorted(n for n in own if own[n].shape != state[n].shape):
            raise ModelError(f"the other weights belong to another network: {', '.join(differing[:5])}")
    for name, tensor in own.items():
        mean = max(0.0, rest) * tensor
        for state, share in others:
            mean = mean + share * state[name].to(tensor)
        tensor.copy_(mean)
