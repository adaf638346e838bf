"""A linear layer whose result is added to a residual, in one operation where the layer can do that."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn


class AddingLinear(nn.Module):
    """A linear layer that can add its result to something where its sums are (model/packing.py)."""

    @abstractmethod
    def onto(self, residual: Tensor, x: Tensor) -> Tensor:
        """(..., O) and (..., I) -> (..., O)."""


def onto(residual: Tensor, layer: nn.Module, x: Tensor) -> Tensor:
    """residual + layer(x)."""
    if isinstance(layer, AddingLinear):
        return layer.onto(residual, x)
    summed: Tensor = residual + layer(x)
    return summed
