"""Prompts are shared between requests of one owner only: cached ones, those being read, and prefixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.decoder import Decoder

Tiny = Callable[[str], Decoder]
PROMPT = (3, 7, 7, 19, 4, 7, 22, 2, 9, 7, 1, 8)
ASKED = EngineRequest(PROMPT, SamplingParams(max_tokens=3), (0,))
OPTIONS = EngineOptions(memory_bytes=1 << 21, cache_bytes=1 << 20, block=4, prefill_tokens=100)


@pytest.mark.parametrize("kind", ["llama", "prefix", "shipped"])
@pytest.mark.parametrize("invariant", [False, True])
def test_what_one_owner_asked_is_unread_for_another(tiny: Tiny, kind: str, invariant: bool) -> None:
    if invariant and kind != "llama":
        pytest.skip("the invariant mode is a decoder's")
    engine = Engine(tiny(kind), replace(OPTIONS, invariant=invariant))
    owners = ("acme", "acme", "globex", "", "globex", "acme")
    results = [engine.run([replace(ASKED, owner=owner)])[0] for owner in owners]
    assert [result.shared_tokens for result in results] == [0, 12, 0, 0, 12, 12]
    assert len({result.samples[0].token_ids for result in results}) == 1


def test_nor_a_beginning_of_it(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), OPTIONS)
    longer = replace(ASKED, prompt=(*PROMPT, 5, 6))
    engine.run([replace(ASKED, owner="acme")])
    shared = [engine.run([replace(longer, owner=owner)])[0].shared_tokens for owner in ("globex", "acme")]
    assert shared[0] == 0
    assert shared[1] > 0


def test_nor_while_it_is_being_read(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), OPTIONS)
    owners = ("acme", "globex", "acme", "globex")
    results = engine.run([replace(ASKED, owner=owner) for owner in owners])
    assert [result.shared_tokens for result in results] == [0, 0, 12, 12]


def test_memory_of_all_owners_is_given_back(tiny: Tiny) -> None:
    engine = Engine(tiny("llama"), EngineOptions(memory_bytes=1 << 16, cache_bytes=1 << 14, block=4))
    before = engine.free_positions
    for number in range(200):
        engine.run([replace(ASKED, prompt=(*PROMPT, number % 30), owner=f"tenant {number}")])
    assert engine.free_positions == before
