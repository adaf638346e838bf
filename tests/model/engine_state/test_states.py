"""Prefill and decoding states against the decoder without any: chunks, shared beginnings, windows, grouped heads."""

from __future__ import annotations

import pytest
import torch

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.decode_state import DecodeState
from model.engine_state.prefill_state import PrefillState, PromptSegment
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup
from model.errors import ModelError

FIRST, SECOND = list(range(1, 20)), [*range(1, 9), 30, 29, 28, 27, 26]


def build(windows: tuple[int | None, ...] = (), positions: str = "rotary") -> Decoder:
    config = DecoderConfig(
        vocab_size=31,
        hidden_size=16,
        num_layers=2,
        num_heads=4,
        num_kv_heads=2,
        head_dim=4,
        intermediate_size=24,
        max_positions=32,
        positions=positions,  # type: ignore[arg-type]
        windows=windows,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(config)
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=0.4)
    return model.eval().requires_grad_(False)


def arena(model: Decoder) -> KeyValueArena:
    budget = 300 * bytes_per_position(model.config, torch.float32)
    return KeyValueArena(model.config, budget, dtype=torch.float32)


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize(("windows", "positions"), [((), "rotary"), ((5, None), "rotary"), ((), "learned")])
def test_chunks_and_rows_equal_the_whole_sequence(
    windows: tuple[int | None, ...], positions: str, invariant: bool
) -> None:
    model = build(windows, positions)
    store = arena(model)
    model(torch.tensor([FIRST[:12]]), PrefillState(store, [PromptSegment(12, (), 0)], 32))
    both = [PromptSegment(7, (KeyRange(0, 12),), 12), PromptSegment(5, (KeyRange(0, 8),), 50)]
    hidden = model(torch.tensor([FIRST[12:] + SECOND[8:]]), PrefillState(store, both, 32))
    torch.testing.assert_close(hidden[0, :7], model(torch.tensor([FIRST]))[0, 12:], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(hidden[0, 7:], model(torch.tensor([SECOND]))[0, 8:], atol=1e-5, rtol=1e-5)
    prompt = (KeyRange(0, 8), KeyRange(50, 5))
    if invariant:
        store.copy(KeyRange(0, 8), 200)
        store.copy(KeyRange(50, 5), 208)
        prompt = (KeyRange(200, 13),)
    groups = [RowGroup(3, (KeyRange(0, 19),), 100, 10, 1), RowGroup(1, prompt, 220, 5, 1)]
    padding = 2 if invariant else 0
    state = DecodeState(store, groups, 32, invariant=invariant, padding=padding, padding_slot=299)
    rows = [list(FIRST), list(FIRST), list(FIRST), list(SECOND)]
    for step in range(4):
        for place, row in enumerate(rows):
            row.append(3 * place + step + 1)
        tokens = [[row[-1]] for row in rows] + [[0]] * padding
        hidden = model(torch.tensor(tokens), state)
        for place, row in enumerate(rows):
            torch.testing.assert_close(hidden[place, 0], model(torch.tensor([row]))[0, -1], atol=1e-5, rtol=1e-5)


def test_what_cannot_be_is_refused() -> None:
    model = build()
    store = arena(model)
    with pytest.raises(ModelError, match="at least one token"):
        PrefillState(store, [PromptSegment(0, (), 0)], 32)
    with pytest.raises(ModelError, match=r"33 tokens.* 32"):
        PrefillState(store, [PromptSegment(3, (KeyRange(0, 30),), 30)], 32)
    with pytest.raises(ModelError, match="cannot follow earlier positions"):
        PrefillState(store, [PromptSegment(3, (KeyRange(0, 4),), 4, True)], 32)
    late = DecodeState(store, [RowGroup(1, (KeyRange(0, 30),), 30, 3, 3)], 32)
    with pytest.raises(ModelError, match="33 tokens do not fit"):
        late.positions(1)
    with pytest.raises(ModelError, match="one token per row"):
        late.positions(2)
    with pytest.raises(ModelError, match="is too small"):
        KeyValueArena(model.config, 5, dtype=torch.float32)
