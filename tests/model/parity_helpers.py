"""Helpers for comparisons with transformers: a checkpoint loaded by both, and the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from model.decoder.decoder import Decoder

PROMPT = torch.tensor([[1, 17, 5, 88, 120, 3, 3, 42]])


@dataclass(frozen=True, slots=True)
class Pair:
    """The same checkpoint, loaded by transformers and by Plumbline, both in fp32."""

    folder: Path
    theirs: Any
    ours: Decoder
