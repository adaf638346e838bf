"""Packs a classifier whose code is not ours (see model.decoder.packing), and takes it back where that code will not
have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from model.decoder.packing import PackedLinear, can_pack

_CLOSE = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
"""How far logits may move, beside 1 or their own size: rounding is a hundredth of this, a layer that is lost is not."""


@torch.inference_mode()
def pack_classifier(model: Any, probe: Mapping[str, Tensor]) -> bool:
    """Pack every linear layer, in place; False, and the model as it was, where that cannot be.

    probe: inputs of a few rows. Some architectures read a layer's weight themselves, and a packed one has none to
    read; so the probe is run before and after, and packing is taken back where it fails or its logits differ.
    """
    first = next(iter(model.parameters()))
    if not can_pack(first.device, first.dtype):
        return False
    plain = [
        (parent, name, child)
        for parent in list(model.modules())
        for name, child in list(parent.named_children())
        if type(child) is nn.Linear  # a subclass has reasons of its own
    ]
    with suppress(Exception):  # whatever foreign code raises about a layer that is no nn.Linear
        expected = model(**probe).logits.float()
        for parent, name, child in plain:
            setattr(parent, name, PackedLinear(child.weight, child.bias))
        found = model(**probe).logits.float()
        near = _CLOSE[first.dtype]
        if torch.allclose(found, expected, rtol=near, atol=near):
            return True
    for parent, name, child in plain:
        setattr(parent, name, child)
    return False
