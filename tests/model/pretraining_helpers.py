"""A tiny decoder for tests of pretraining, with its settings. The token streams are a fixture in conftest.py."""

from __future__ import annotations

import dataclasses

from model.training.pretrain import PretrainSettings
from tests.tiny_decoders import LLAMA

CONFIG = dataclasses.replace(LLAMA, max_positions=12, tied_head=True)
SETTINGS = PretrainSettings(
    12, learning_rate=3e-3, tokens_per_step=36, tokens_at_once=24, epochs=1.5, warmup=0.1, seed=1
)
