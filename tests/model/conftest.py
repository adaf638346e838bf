"""Small support encoders with every part saying something for the verifier's tests; a tiny corpus for pretraining's."""

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


@pytest.fixture(scope="session")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenStream]:
    """A tiny corpus of 41 tokens in pieces of 9, as it is read for training and for validation."""
    folder = tmp_path_factory.mktemp("corpus")
    random = np.random.default_rng(0)
    writer = CorpusWriter(folder, "test", end_id=0, shard_bytes=1000)
    for n in range(30):
        writer.add(random.integers(1, 41, size=9).astype(np.uint16), held_out=n % 5 == 0)
    facts = writer.finish(())
    return {name: TokenStream(folder, facts, name) for name in ("train", "validation")}
