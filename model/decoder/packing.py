"""Prepacked weights for fast CPU inference, in oneDNN's blocked layout.

A product with few rows reads every weight once, so that its speed depends on the layout. On two cores (torch 2.13,
AVX-512, the 135M Llama shape, 2026-11-21) all products of a step of one token took 48 ms in fp32 and 24 in bf16 by
``F.linear``, 28 and 14 from packed weights; those of 512 rows 700 and 326 ms, and 545 and 281.

The operators are those that torch.compile's CPU backend emits for linear layers; if torch has none, nothing is packed.
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

# oneDNN chooses the layout for a number of rows. In fp32 the layout for 16 is as good for 1 and 512, while with that
# for 1 a product of 16 takes half as long again. In bf16 the layout for 1 is as good for all.
_ROWS = {torch.float32: 16, torch.bfloat16: 1}


class PackedLinear(nn.Module):
    """A linear layer (O, I) with a packed weight, which cannot be read, copied, moved or trained.

    dtype: of the products, the weight's own by default; inputs are cast to it, as in autocast.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.dtype = dtype or weight.dtype
        # Not buffers: a packed tensor has no storage for state_dict or deepcopy.
        plain = weight.detach().to(self.dtype).contiguous()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(plain, _ROWS[self.dtype])
        self._bias = None if bias is None else bias.detach().to(self.dtype)

    def forward(self, x: Tensor) -> Tensor:
        """(..., I) -> (..., O)."""
        return self.then("none", x)

    def then(self, function: str, x: Tensor, algorithm: str = "") -> Tensor:
        """(..., I) -> (..., O), with ``function`` (none or gelu) applied before rounding."""
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
        """(B, T, E) -> (B, T, E)."""
        out: Tensor = self.down(self.up.then("gelu", x, self.approximate))
        return out


class ShortRMSNorm(nn.Module):
    """``RMSNorm`` in five operations instead of ten: the time of a one-token step depends on the number of operations.

    With n the length of x, mean(x^2) + eps = (n^2 + eps E) / E. Sums and divisions are in fp32.
    """

    def __init__(self, norm: RMSNorm) -> None:
        super().__init__()
        size = norm.weight.shape[0]
        self._floor = torch.tensor(math.sqrt(norm.eps * size))
        self._weight = norm.weight.detach().float() * math.sqrt(size)

    def forward(self, x: Tensor) -> Tensor:
        """(..., E) -> (..., E)."""
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
        return (x / torch.hypot(length, self._floor)).mul_(self._weight).to(x.dtype)


def can_pack(device: torch.device, dtype: torch.dtype) -> bool:
    """Return whether weights on this device in this precision can be packed."""
    operators = torch.ops.mkldnn
    if device.type != "cpu" or not torch._C._has_mkldnn:
        return False
    if not all(hasattr(operators, name) for name in ("_reorder_linear_weight", "_linear_pointwise")):
        return False
    return dtype == torch.float32 or (dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported())


def pack_blocks(blocks: nn.Module, dtype: torch.dtype | None = None) -> None:
    """Pack the linear layers and norms of transformer blocks, in place; each plain weight is freed as it is packed.

    Layers of another kind (Int8Linear) are unchanged. dtype: see PackedLinear.
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
    """Pack a decoder's blocks and the matrix of its head, in place; False, and no change, if that is not possible.

    Results differ by rounding only. A tied head's matrix is packed in addition to the embedding, which is still needed
    for lookups: vocab_size * hidden_size numbers more.
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
