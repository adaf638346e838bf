"""Limits on untrusted transformers checkpoints, checked before transformers builds a model.

transformers builds a model layer by layer from config.json and initialises missing weights. A config with a billion
layers, or with tensors that no file holds, would exhaust time or memory before any error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from model.errors import ModelError
from model.hardware.memory import check_fits_memory

_MOST_LAYERS, _MOST_LABELS, _MOST = 1024, 100_000, 2**40
_SLACK = 1_000_000  # parameters that need not be stored: a classification head, computed tables


def refuse_huge_numbers(config: Mapping[str, object], where: str) -> None:
    """Raise ModelError, naming the field, if a number in a config.json is implausibly large.

    Limits: 1,024 layers, 100,000 labels, 2^40 for all other numbers. Nested objects are checked too.
    """
    pending: list[tuple[str, object]] = [("", config)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((f"{name}.{key}" if name else str(key), inner) for key, inner in value.items())
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        last = name.rpartition(".")[2]
        maximum = _MOST_LABELS if "label" in last else _MOST_LAYERS if "layer" in last else _MOST
        if value > maximum:
            raise ModelError(f"{where}: {name[:100]} is {str(value)[:30]}: at most {maximum:,} is supported")


def refuse_more_than_is_stored(
    make: Callable[[], Any], folder: Path, dtype: torch.dtype, device: torch.device | str
) -> None:
    """Raise ModelError if a model has more parameters than its weight files or the memory can hold.

    make: builds the model; it is called without memory for the weights (on the meta device).
    """
    try:
        with torch.device("meta"):
            parameters = sum(parameter.numel() for parameter in make().parameters())
    except (RuntimeError, OverflowError) as error:  # element counts that overflow an integer
        reason = " ".join(str(error).split())[:300]
        raise ModelError(f"{folder}: its config.json asks for tensors of impossible size ({reason})") from error
    stored = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if parameters > 2 * stored + _SLACK:  # two values of four bits in a byte
        raise ModelError(
            f"{folder}: its config.json asks for {parameters / 1e6:,.0f} million parameters, its files of "
            f"{stored / 1e6:,.1f} MB cannot hold them: the two do not belong together"
        )
    check_fits_memory(f"{folder}: the model", parameters * dtype.itemsize, device)
