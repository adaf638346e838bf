"""KVCache: what is appended is what is read, within its capacity; one sequence expands to independent samples."""

from __future__ import annotations

import pytest
import torch

from model.decoder.attention import attend
from model.decoder.cache import KVCache
from model.decoder.config import DecoderConfig
from model.errors import ModelError

CONFIG = DecoderConfig(
    vocab_size=11,
    hidden_size=8,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=2,
    intermediate_size=16,
    max_positions=6,
)


def cache(batch: int = 1, capacity: int = 6) -> KVCache:
    return KVCache(CONFIG, batch, capacity, dtype=torch.float32, device="cpu")


def test_append_returns_all_positions_so_far() -> None:
    store = cache(batch=2)
    first, second = torch.randn(2, 2, 3, 2), torch.randn(2, 2, 1, 2)
    keys, values = store.append(0, first, -first)
    assert torch.equal(keys, first) and torch.equal(values, -first)
    store.append(1, first, first)
    assert store.length == 0  # layers still see the same past until all have appended
    store.advance(3)
    keys, values = store.append(0, second, 2 * second)
    assert torch.equal(keys, torch.cat((first, second), dim=2))
    assert torch.equal(values, torch.cat((-first, 2 * second), dim=2))


def test_layers_are_separate() -> None:
    store = cache()
    store.append(0, torch.ones(1, 2, 1, 2), torch.ones(1, 2, 1, 2))
    keys, _ = store.append(1, torch.zeros(1, 2, 1, 2), torch.zeros(1, 2, 1, 2))
    assert not keys.any()
    assert store.keys[0, :, :, :1].all()


def test_overflow_is_refused() -> None:
    store = cache(capacity=4)
    store.append(0, torch.ones(1, 2, 4, 2), torch.ones(1, 2, 4, 2))
    store.advance(4)
    with pytest.raises(ModelError, match="holds 4 positions; position 5"):
        store.append(0, torch.ones(1, 2, 1, 2), torch.ones(1, 2, 1, 2))


@pytest.mark.parametrize("capacity", [0, 7])
def test_capacity_is_between_one_and_the_context(capacity: int) -> None:
    with pytest.raises(ModelError, match=f"a cache of {capacity} positions"):
        cache(capacity=capacity)


def test_expanded_samples_do_not_share_memory() -> None:
    store = cache()
    for layer in range(2):
        store.append(layer, torch.ones(1, 2, 2, 2), torch.ones(1, 2, 2, 2))
    store.advance(2)
    many = store.expand(3)
    assert (many.batch, many.length, many.capacity) == (3, 2, 6)
    new = torch.arange(3.0).view(3, 1, 1, 1).expand(3, 2, 1, 2)
    keys, _ = many.append(0, new, new)
    assert torch.equal(keys[:, 0, 2, 0], torch.arange(3.0))
    many.keys[:, 0, :, 0] = 7.0
    assert torch.equal(many.keys[:, 1, :, :2], torch.ones(2, 2, 2, 2))
    assert torch.equal(store.keys[..., :2, :], torch.ones(2, 1, 2, 2, 2))
    assert store.length == 2


def attend_all(store: KVCache, parts: list[torch.Tensor], window: int | None) -> torch.Tensor:
    """Layer 0's reads of parts (1, Hkv, T, D) that follow each other, each queried by itself twice over."""
    out = []
    for part in parts:
        assert store.positions(part.shape[2]).tolist() == [list(range(store.length, store.length + part.shape[2]))]
        out.append(store.attend(0, part.repeat_interleave(2, dim=1), part, -part, window, None))
        store.advance(part.shape[2])
    return torch.cat(out, dim=2)


@pytest.mark.parametrize("window", [None, 1, 2, 4, 6, 9])
@pytest.mark.parametrize("split", [(6,), (1,) * 6, (4, 2), (1, 3, 2)])
def test_attend_reads_the_window_however_it_is_split(window: int | None, split: tuple[int, ...]) -> None:
    full = torch.randn(1, 2, 6, 2, generator=torch.Generator().manual_seed(0))
    found = attend_all(cache(), list(full.split_with_sizes(split, dim=2)), window)
    for head in range(4):
        own = full[0, head // 2]
        for t in range(6):
            first = 0 if window is None else max(0, t + 1 - window)
            expected, _ = attend(own[t : t + 1], own[first : t + 1], -own[first : t + 1])
            torch.testing.assert_close(found[0, head, t : t + 1], expected)


def test_a_mask_is_narrowed_by_the_window() -> None:
    full = torch.randn(1, 2, 4, 2, generator=torch.Generator().manual_seed(1))
    mask = torch.ones(4, 4).tril().bool()
    mask[3, 2] = False
    out = cache().attend(0, full.repeat_interleave(2, dim=1), full, full, 3, mask)
    expected, _ = attend(full[0, 1, 3:], full[0, 1, [1, 3]], full[0, 1, [1, 3]])
    torch.testing.assert_close(out[0, 2, 3:], expected)


def test_positions_end_with_the_context() -> None:
    store = cache()
    assert store.positions(6).tolist() == [[0, 1, 2, 3, 4, 5]]
    with pytest.raises(ModelError, match=r"7 tokens.* 6"):
        store.positions(7)


def test_only_one_sequence_expands() -> None:
    with pytest.raises(ModelError, match="this one has 2"):
        cache(batch=2).expand(4)
