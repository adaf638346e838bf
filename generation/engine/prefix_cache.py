"""Prompts whose keys and values are kept: found again by their token ids, the least recently used given up first.

Only exact reuse: what is found was computed from the same tokens at the same positions. A causal model shares any
common beginning of whole blocks; of a prefix decoder, whose prompt is read both ways, only the same prompt is the same.
Prompts have owners and are found by their own only, so that nobody learns from a time or a count what another asked.
Knows nothing of tensors: it keeps ranges, and says which are free again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from model.engine_state.ranges import KeyRange

PromptKey = tuple[str, tuple[int, ...]]
"""Owner and token ids."""


@dataclass(eq=False, slots=True)
class CachedPrompt:
    """A prompt that was read.

    ranges: where its keys lie, in order; the last one, ``own``, belongs to it, those before it to ``parents``, which
    stay as long as it does. users: how many need it now; while there are any, it is a user of its parents. children:
    kept prompts that have it for a parent. ending: whatever else is kept with it (its last hidden state). owner: whose
    requests may find it.
    """

    token_ids: tuple[int, ...]
    ranges: tuple[KeyRange, ...]
    own: KeyRange
    parents: tuple[CachedPrompt, ...] = ()
    ending: object = None
    users: int = 0
    children: int = 0
    nodes: list[_Node] = field(default_factory=list)
    owner: str = ""

    @property
    def key(self) -> PromptKey:
        """What it is found by."""
        return self.owner, self.token_ids


@dataclass(eq=False, slots=True)
class _Node:
    """One block of tokens behind those above it; ``prompt`` holds all of them."""

    parent: _Node | None
    key: tuple[int, ...]
    prompt: CachedPrompt | None
    below: dict[tuple[int, ...], _Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """``length`` tokens that a kept prompt begins with as well; length 0 and prompt None when there is none."""

    prompt: CachedPrompt | None
    length: int

    @property
    def ranges(self) -> tuple[KeyRange, ...]:
        """Where their keys lie."""
        out = []
        left = self.length
        for part in self.prompt.ranges if self.prompt is not None else ():
            if left:
                out.append(part.first(min(left, part.length)))
                left -= out[-1].length
        return tuple(out)


class PrefixCache:
    """``limit``: positions that prompts without users may hold; those in use are not counted against it."""

    def __init__(self, block: int, limit: int) -> None:
        self._block, self._limit = block, limit
        self._roots: dict[str, _Node] = {}
        self._whole: dict[PromptKey, CachedPrompt] = {}
        self._idle: OrderedDict[int, CachedPrompt] = OrderedDict()  # least recently used first
        self._held = 0

    @property
    def idle_positions(self) -> int:
        """Positions held by prompts that nobody uses."""
        return self._held

    def __len__(self) -> int:
        return len(self._whole)

    def same(self, token_ids: tuple[int, ...], owner: str = "") -> CachedPrompt | None:
        """The owner's kept prompt with exactly these tokens."""
        return self._whole.get((owner, token_ids))

    def longest(self, token_ids: Sequence[int], owner: str = "") -> SharedPrefix:
        """The owner's longest kept beginning of whole blocks that leaves at least the last token to be read."""
        node, length = self._roots.get(owner), 0
        if node is None:
            return SharedPrefix(None, 0)
        while length + self._block < len(token_ids):
            below = node.below.get(tuple(token_ids[length : length + self._block]))
            if below is None:
                break
            node, length = below, length + self._block
        return SharedPrefix(node.prompt, length)

    def add(self, prompt: CachedPrompt, *, beginnings: bool) -> None:
        """Keep a prompt that is in use, and uses its parents; none with the same tokens may be there already.

        beginnings: others may share a part of it (not of a prefix decoder's)."""
        if prompt.key in self._whole:
            raise ValueError("a prompt with these tokens is kept already")
        self._whole[prompt.key] = prompt
        for parent in prompt.parents:
            parent.children += 1
        if not beginnings:
            return
        node = self._roots.setdefault(prompt.owner, _Node(None, (), None))
        for begin in range(0, len(prompt.token_ids) - self._block + 1, self._block):
            key = prompt.token_ids[begin : begin + self._block]
            below = node.below.get(key)
            if below is None:
                below = node.below[key] = _Node(node, key, prompt)
                prompt.nodes.append(below)
            node = below

    def use(self, prompt: CachedPrompt) -> None:
        """Count a user: it and what it stands on stay until the last one has released it."""
        if not prompt.users:
            for parent in prompt.parents:
                self.use(parent)
            if self._idle.pop(id(prompt), None) is not None:
                self._held -= prompt.own.length
        prompt.users += 1

    def release(self, prompt: CachedPrompt) -> list[KeyRange]:
        """One user less; returns the ranges that are free now, because idle prompts are over the limit."""
        self._leave(prompt)
        freed: list[KeyRange] = []
        while self._held > self._limit:
            freed.extend(self.give_up_one())
        return freed

    def give_up_one(self) -> list[KeyRange]:
        """Forget the least recently used idle prompt that none is built on: the range that is free now, or nothing."""
        prompt = next((prompt for prompt in self._idle.values() if not prompt.children), None)
        if prompt is None:
            return []
        del self._idle[id(prompt)], self._whole[prompt.key]
        self._held -= prompt.own.length
        for node in reversed(prompt.nodes):
            self._forget(node)
        root = self._roots.get(prompt.owner)
        if root is not None and not root.below:
            del self._roots[prompt.owner]
        for parent in prompt.parents:
            parent.children -= 1
        return [prompt.own]

    def _leave(self, prompt: CachedPrompt) -> None:
        prompt.users -= 1
        if prompt.users:
            return
        self._idle[id(prompt)] = prompt
        self._held += prompt.own.length
        for parent in prompt.parents:
            self._leave(parent)

    def _forget(self, node: _Node) -> None:
        heir = next((below.prompt for below in node.below.values()), None)
        if heir is not None:  # it holds these tokens too, in a copy of its own
            node.prompt = heir
            heir.nodes.insert(0, node)
        elif node.parent is not None:
            del node.parent.below[node.key]
