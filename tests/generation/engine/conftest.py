"""Fixtures: tiny random decoders of every kind that the engine treats differently, and the trained one that ships."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from generation.decoding.loop import DecodedTokens, decode
from generation.engine.requests import EngineRequest
from model.checkpoints.loading import load_decoder
from model.checkpoints.shipped import shipped_decoder
from model.decoder.decoder import Decoder
from tests import tiny_decoders

LLAMA = dataclasses.replace(tiny_decoders.LLAMA, vocab_size=31, max_positions=40)
PREFIX = dataclasses.replace(tiny_decoders.PREFIX, vocab_size=31, max_positions=40)
KINDS = {
    "llama": LLAMA,
    "window": dataclasses.replace(LLAMA, windows=(6, None)),
    "prefix": PREFIX,
    "marked": dataclasses.replace(PREFIX, mark_separator=2, first_ordinary_id=5, follow=3),
}


@pytest.fixture(scope="session")
def tiny() -> Callable[[str], Decoder]:
    """Return a new decoder of this kind, always with the same weights, far from a uniform distribution."""

    def make(kind: str) -> Decoder:
        if kind == "shipped":
            return load_decoder(shipped_decoder())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = Decoder(KINDS[kind])
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    torch.nn.init.normal_(parameter, std=0.4)
        return model.eval().requires_grad_(False)

    return make


@pytest.fixture(scope="session")
def plainly() -> Callable[[Decoder, EngineRequest], tuple[DecodedTokens, ...]]:
    """Return the result of the reference loop for one request."""

    def run(model: Decoder, request: EngineRequest) -> tuple[DecodedTokens, ...]:
        return decode(
            model,
            request.prompt,
            request.params,
            request.seeds,
            request.end_ids,
            first_copyable_id=request.first_copyable_id,
            null_id=request.null_id,
            calibration=request.calibration,
        )

    return run
