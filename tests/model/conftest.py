"""Fixtures: small support encoders in which every part has an effect, and a tiny corpus for pretraining."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.training.pretrain_corpus import CorpusWriter, TokenStream
from model.verifier.encoder import SUPPORT_CONFIG, SupportEncoder, SupportFeatures


@pytest.fixture(scope="session")
def small_support() -> Callable[..., SupportEncoder]:
    """Return a function that creates an encoder of two layers in which marks and heads are not zero."""

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


@pytest.fixture(scope="session")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenStream]:
    """Return the two streams of a tiny corpus of 41 tokens in shards of 9."""
    folder = tmp_path_factory.mktemp("corpus")
    random = np.random.default_rng(0)
    writer = CorpusWriter(folder, "test", end_id=0, shard_bytes=1000)
    for n in range(30):
        writer.add(random.integers(1, 41, size=9).astype(np.uint16), held_out=n % 5 == 0)
    facts = writer.finish(())
    return {name: TokenStream(folder, facts, name) for name in ("train", "validation")}
