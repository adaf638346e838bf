"""Prepacked weights for fast CPU inference, in oneDNN's blocked layout.

A product with few rows reads every weight once, so its speed depends on the layout. For one token of a 135M Llama on
two cores (AVX-512), packed weights reduce the time of all products from 48 to 28 ms in fp32, and from 24 to 14 ms in
bf16.

The operators are those that torch.compile's CPU backend emits for linear layers. Without them nothing is packed.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.decoder.blocks import GeluMLP
from model.decoder.decoder import Decoder
from model.decoder.heads import LinearHead
from model.decoder.norms import RMSNorm
from model.errors import ModelError

# Number of rows for which oneDNN chooses the layout. In fp32 the layout for 16 is also good for 1 and 512, while with
# the layout for 1 a product of 16 rows takes 50 % longer. In bf16 the layout for 1 is good for all.
_ROWS = {torch.float32: 16, torch.bfloat16: 1}


class PackedLinear(nn.Module):
    """A linear layer (O, I) with a packed weight, which cannot be read, copied, moved or trained.

    weight: (O, I). dtype: dtype of the product, to which inputs are cast as in autocast; None for the weight's dtype.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.dtype = dtype or weight.dtype
        # Not buffers, because a packed tensor has no storage for state_dict or deepcopy.
        plain = weight.detach().to(self.dtype).contiguous()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(plain, _ROWS[self.dtype])
        self._bias = None if bias is None else bias.detach().to(self.dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output (..., O) of x (..., I)."""
        return self.then("none", x)

    def then(self, function: str, x: Tensor, algorithm: str = "") -> Tensor:
        """Return the layer's output (..., O) after ``function`` ("none" or "gelu"), which is applied before rounding.

        algorithm: "tanh" or "none" for gelu.
        """
        out: Tensor = torch.ops.mkldnn._linear_pointwise(
            x.to(self.dtype), self._weight, self._bias, function, [], algorithm
        )
        return out

    def __deepcopy__(self, memo: object) -> PackedLinear:
        raise ModelError("a packed model cannot be copied: copy it before its weights are packed")


class PackedGeluMLP(nn.Module):
    """``GeluMLP`` with packed weights."""

    def __init__(self, layer: GeluMLP, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.approximate = layer.approximate
        self.up = PackedLinear(layer.up.weight, layer.up.bias, dtype)
        self.down = PackedLinear(layer.down.weight, layer.down.bias, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, T, E) of x (B, T, E)."""
        out: Tensor = self.down(self.up.then("gelu", x, self.approximate))
        return out


class ShortRMSNorm(nn.Module):
    """``RMSNorm`` in five operations instead of ten, which determine the time of a one-token step.

    If n is the Euclidean norm of x, mean(x^2) + eps = (n^2 + eps E) / E. Sums and divisions are in fp32.
    """

    def __init__(self, norm: RMSNorm) -> None:
        super().__init__()
        size = norm.weight.shape[0]
        self._floor = torch.tensor(math.sqrt(norm.eps * size))
        self._weight = norm.weight.detach().float() * math.sqrt(size)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised x, (..., E)."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        return (x / torch.hypot(length, self._floor)).mul_(self._weight).to(x.dtype)


def can_pack(device: torch.device, dtype: torch.dtype) -> bool:
    """Return whether weights of this dtype on this device can be packed."""
    operators = torch.ops.mkldnn
    if device.type != "cpu" or not torch._C._has_mkldnn:
        return False
    if not all(hasattr(operators, name) for name in ("_reorder_linear_weight", "_linear_pointwise")):
        return False
    return dtype == torch.float32 or (dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported())


def pack_blocks(blocks: nn.Module, dtype: torch.dtype | None = None) -> None:
    """Pack the linear layers and norms of transformer blocks in place. Each plain weight is freed as it is packed.

    Layers of another kind (Int8Linear) are unchanged. dtype: dtype of the products; None for that of the weights.
    """
    for module in list(blocks.modules()):
        for name, child in list(module.named_children()):
            plain = all(isinstance(layer, nn.Linear) for layer in child.children())
            if isinstance(child, GeluMLP) and plain:
                setattr(module, name, PackedGeluMLP(child, dtype))
            elif isinstance(child, RMSNorm):
                setattr(module, name, ShortRMSNorm(child))
            elif isinstance(child, nn.Linear) and not isinstance(module, GeluMLP):
                setattr(module, name, PackedLinear(child.weight, child.bias, dtype))


def pack(model: Decoder) -> bool:
    """Pack a decoder's blocks and the matrix of its head in place. Return False, unchanged, if that is not possible.

    Results differ by rounding only. A tied head's matrix takes vocab_size * hidden_size additional numbers, because the
    plain embedding is still needed.
    """
    if not can_pack(model.device, model.dtype):
        return False
    pack_blocks(model.blocks)
    head = model.head
    own = head.weight if isinstance(head, LinearHead) else None
    if head.packed is None:  # otherwise it is quantised
        head.packed = PackedLinear(model.embedding.weight if own is None else own)
    if isinstance(head, LinearHead) and own is not None:
        head.weight = None
    return True
