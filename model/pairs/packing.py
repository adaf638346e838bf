"""Pack the weights of a third-party classifier (see model.decoder.packing), and undo this if its code does not work."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from model.decoder.packing import PackedLinear, can_pack

_CLOSE = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
"""Largest allowed change of a logit, absolute plus relative. Rounding changes it by about a hundredth of this."""


@torch.inference_mode()
def pack_classifier(model: Any, probe: Mapping[str, Tensor]) -> bool:
    """Pack every linear layer in place. Return False, with the model unchanged, if that is not possible.

    probe: model inputs of a few rows. Some architectures read a layer's weight directly, which a packed layer lacks.
    The probe is therefore run before and after, and packing is undone if it fails or the logits differ.
    """
    first = next(iter(model.parameters()))
    if not can_pack(first.device, first.dtype):
        return False
    plain = [
        (parent, name, child)
        for parent in list(model.modules())
        for name, child in list(parent.named_children())
        if type(child) is nn.Linear  # a subclass may behave differently
    ]
    with suppress(Exception):  # third-party code may raise anything for a layer that is not an nn.Linear
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
