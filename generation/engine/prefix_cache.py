"""A cache of the keys and values of prompts, found by token IDs, with least-recently-used eviction.

Reuse is exact: cached values were computed from the same tokens at the same positions. Prompts of a causal model share
any common prefix of complete blocks. A prefix decoder attends to the entire prompt in both directions, so only an
identical prompt is shared. A prompt is visible to its owner only, so that neither times nor counts reveal other owners'
prompts. The cache manages ranges, not tensors, and reports which ranges become free.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from model.engine_state.ranges import KeyRange

PromptKey = tuple[str, tuple[int, ...]]
"""Owner and token IDs of a prompt."""


@dataclass(eq=False, slots=True)
class CachedPrompt:
    """A prompt whose keys and values are kept.

    token_ids: the prompt. ranges: positions of its keys in the arena, in order. The last range, ``own``, belongs to
    this prompt, the others to its ``parents``, which are kept as long as it is. ending: other data kept with the
    prompt, such as its last hidden state. users: number of users; while there are any, the prompt is a user of its
    parents. children: number of cached prompts with this one as a parent. nodes: nodes of the prefix tree that refer to
    it. owner: the owner whose requests may use it.
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
        """The lookup key."""
        return self.owner, self.token_ids


@dataclass(eq=False, slots=True)
class _Node:
    """A node of the prefix tree, with one block of tokens. ``prompt`` has this block and those of its ancestors."""

    parent: _Node | None
    key: tuple[int, ...]
    prompt: CachedPrompt | None
    below: dict[tuple[int, ...], _Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A prefix of ``length`` tokens shared with a cached prompt. Length 0 and prompt None if there is none."""

    prompt: CachedPrompt | None
    length: int

    @property
    def ranges(self) -> tuple[KeyRange, ...]:
        """Positions of the prefix's keys in the arena, in order."""
        out = []
        left = self.length
        for part in self.prompt.ranges if self.prompt is not None else ():
            if left:
                out.append(part.first(min(left, part.length)))
                left -= out[-1].length
        return tuple(out)


class PrefixCache:
    """A cache of prompts.

    block: number of tokens in a block; prefixes of complete blocks are shared. limit: maximum number of positions held
    by prompts without users.
    """

    def __init__(self, block: int, limit: int) -> None:
        self._block, self._limit = block, limit
        self._roots: dict[str, _Node] = {}
        self._exact: dict[PromptKey, CachedPrompt] = {}
        self._idle: OrderedDict[int, CachedPrompt] = OrderedDict()  # least recently used first
        self._unused_positions = 0

    @property
    def idle_positions(self) -> int:
        """Number of positions held by prompts without users."""
        return self._unused_positions

    def __len__(self) -> int:
        return len(self._exact)

    def same(self, token_ids: tuple[int, ...], owner: str = "") -> CachedPrompt | None:
        """Return the owner's cached prompt with exactly these tokens; None if there is none."""
        return self._exact.get((owner, token_ids))

    def longest(self, token_ids: Sequence[int], owner: str = "") -> SharedPrefix:
        """Return the longest prefix of complete blocks that the owner's cached prompts share with these tokens.

        At least the last token is left to be read.
        """
        node, length = self._roots.get(owner), 0
        if node is None:
            return SharedPrefix(None, 0)
        while length + self._block < len(token_ids):
            below = node.below.get(tuple(token_ids[length : length + self._block]))
            if below is None:
                break
            node, length = below, length + self._block
        return SharedPrefix(node.prompt, length)

    def add(self, prompt: CachedPrompt, *, share_prefixes: bool) -> None:
        """Add a prompt that has users and is a user of its parents.

        share_prefixes: whether others may share a prefix of it (False for a prefix decoder). Raises ValueError if the
        owner already has a prompt with the same tokens.
        """
        if prompt.key in self._exact:
            raise ValueError("a prompt with these tokens is already cached")
        self._exact[prompt.key] = prompt
        for parent in prompt.parents:
            parent.children += 1
        if not share_prefixes:
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
        """Add a user. The prompt and its parents are kept until the last user has released them."""
        if not prompt.users:
            for parent in prompt.parents:
                self.use(parent)
            if self._idle.pop(id(prompt), None) is not None:
                self._unused_positions -= prompt.own.length
        prompt.users += 1

    def release(self, prompt: CachedPrompt) -> list[KeyRange]:
        """Remove a user. Returns the ranges that are freed because prompts without users exceed the limit."""
        self._remove_user(prompt)
        freed: list[KeyRange] = []
        while self._unused_positions > self._limit:
            freed.extend(self.evict_one())
        return freed

    def evict_one(self) -> list[KeyRange]:
        """Evict the least recently used prompt without users and children. Returns the freed ranges, if any."""
        prompt = next((prompt for prompt in self._idle.values() if not prompt.children), None)
        if prompt is None:
            return []
        del self._idle[id(prompt)], self._exact[prompt.key]
        self._unused_positions -= prompt.own.length
        for node in reversed(prompt.nodes):
            self._forget(node)
        root = self._roots.get(prompt.owner)
        if root is not None and not root.below:
            del self._roots[prompt.owner]
        for parent in prompt.parents:
            parent.children -= 1
        return [prompt.own]

    def _remove_user(self, prompt: CachedPrompt) -> None:
        prompt.users -= 1
        if prompt.users:
            return
        self._idle[id(prompt)] = prompt
        self._unused_positions += prompt.own.length
        for parent in prompt.parents:
            self._remove_user(parent)

    def _forget(self, node: _Node) -> None:
        successor = next((below.prompt for below in node.below.values()), None)
        if successor is not None:  # another prompt has these tokens too, in its own copy
            node.prompt = successor
            successor.nodes.insert(0, node)
        elif node.parent is not None:
            del node.parent.below[node.key]
