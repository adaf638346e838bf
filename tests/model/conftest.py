"""Small support encoders with every part saying something, shared by the verifier's tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from model.support_encoder import SUPPORT_CONFIG, SupportEncoder, SupportFeatures


@pytest.fixture(scope="session")
def small_support() -> Callable[..., SupportEncoder]:
    """(features, seed, vocabulary, positions) -> an encoder of two layers whose marks and heads are not zero."""

    def make(
        features: SupportFeatures | None = None, seed: int = 0, vocabulary: int = 160, positions: int = 64
    ) -> SupportEncoder:
        config = replace(
            SUPPORT_CONFIG,
            vocab_size=vocabulary,
            hidden_size=16,
            num_layers=2,
            num_heads=2,
            num_kv_heads=2,
            head_dim=8,
            intermediate_size=24,
            max_positions=positions,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = SupportEncoder(features, config)
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    torch.nn.init.normal_(parameter, std=0.3)
        return model

    return make
