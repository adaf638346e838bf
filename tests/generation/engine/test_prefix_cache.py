"""The prompt cache finds what a plain search finds, keeps its limit, and evicts in the right order."""

from __future__ import annotations

import random

import pytest

from generation.engine.prefix_cache import CachedPrompt, PrefixCache
from model.engine_state.ranges import KeyRange


def kept(tokens: str, start: int, parent: CachedPrompt | None = None, shared: int = 0) -> CachedPrompt:
    own = KeyRange(start, len(tokens) - shared)
    ranges = ((KeyRange(parent.own.start, shared),) if parent is not None else ()) + (own,)
    return CachedPrompt(ids(tokens), ranges, own, () if parent is None else (parent,), users=1)


def ids(tokens: str) -> tuple[int, ...]:
    return tuple(ord(c) for c in tokens)


def test_the_longest_beginning_of_whole_blocks() -> None:
    cache = PrefixCache(2, 100)
    cache.add(kept("abcdef", 0), share_prefixes=True)
    assert cache.longest(ids("abcdXY")).ranges == (KeyRange(0, 4),)
    assert cache.longest(ids("abcXYZ")).length == 2
    assert cache.longest(ids("abcdef")).length == 4  # the last token is never shared
    assert cache.longest(ids("abcdefg")).length == 6
    assert cache.longest(ids("bcdef")).ranges == ()
    assert cache.longest(ids("ab")).length == 0
    assert cache.same(ids("abcdef")) is not None
    assert cache.same(ids("abcde")) is None
    with pytest.raises(ValueError, match="already cached"):
        cache.add(kept("abcdef", 50), share_prefixes=True)


def test_of_a_prefix_decoder_only_the_same_prompt_is_found() -> None:
    cache = PrefixCache(2, 100)
    cache.add(kept("abcdef", 0), share_prefixes=False)
    assert cache.longest(ids("abcdefg")).length == 0
    assert cache.same(ids("abcdef")) is not None


def test_a_beginning_goes_on_in_another_prompts_range() -> None:
    cache = PrefixCache(2, 100)
    first = kept("abcdef", 0)
    cache.add(first, share_prefixes=True)
    second = kept("abcdXYZW", 50, first, 4)
    cache.use(first)
    cache.add(second, share_prefixes=True)
    assert cache.longest(ids("abcdXYQQ")).ranges == (KeyRange(0, 4), KeyRange(50, 2))
    cache.release(first)
    assert cache.idle_positions == 0  # the second prompt uses it
    cache.release(second)
    assert cache.idle_positions == 6 + 4
    assert cache.evict_one() == [KeyRange(50, 4)]  # used last, but the first prompt is its parent
    assert cache.longest(ids("abcdXYQQ")).ranges == (KeyRange(0, 4),)
    assert cache.evict_one() == [KeyRange(0, 6)]
    assert cache.evict_one() == []
    assert len(cache) == 0
    assert cache.longest(ids("abcdXYQQ")).length == 0


def test_the_least_recently_used_goes_first_and_the_limit_is_kept() -> None:
    cache = PrefixCache(2, 8)
    prompts = [kept(text, 10 * n) for n, text in enumerate(("aaaa", "bbbb", "cccc"))]
    for prompt in prompts:
        cache.add(prompt, share_prefixes=True)
    assert cache.release(prompts[0]) == []
    assert cache.release(prompts[1]) == []
    cache.use(prompts[0])
    assert cache.release(prompts[0]) == []
    assert cache.release(prompts[2]) == [KeyRange(10, 4)]
    assert cache.same(ids("bbbb")) is None
    assert cache.idle_positions == 8


def test_a_copy_inherits_what_both_hold() -> None:
    cache = PrefixCache(2, 100)
    first, copy = kept("abcdef", 0), kept("abcdXY", 20)
    cache.add(first, share_prefixes=True)
    cache.add(copy, share_prefixes=True)
    cache.release(first)
    assert cache.evict_one() == [KeyRange(0, 6)]
    assert cache.longest(ids("abcdXYZ")).ranges == (KeyRange(20, 6),)
    assert cache.longest(ids("abcdefg")).ranges == (KeyRange(20, 4),)
    cache.release(copy)
    assert cache.evict_one() == [KeyRange(20, 6)]
    assert cache.longest(ids("abcdXYZ")).length == 0


def test_random_use_against_a_plain_search() -> None:
    rng, cache = random.Random(3), PrefixCache(3, 10**6)
    texts: list[str] = []
    for number in range(60):
        text = "".join(rng.choice("ab") for _ in range(rng.randint(1, 14)))
        if text in texts:
            continue
        found = cache.longest(ids(text)).length
        plain = max((common(text, other) for other in texts), default=0)
        assert found == min(plain, (len(text) - 1) // 3 * 3)
        cache.add(kept(text, 20 * number), share_prefixes=True)
        texts.append(text)


def common(text: str, other: str) -> int:
    """Return the number of tokens in the complete blocks of three that both texts start with."""
    length = 0
    while length + 3 <= min(len(text), len(other)) and text[length : length + 3] == other[length : length + 3]:
        length += 3
    return length
