"""Cache of prompts' keys and values, looked up by token ids, with least-recently-used eviction.

Only exact reuse: cached values were computed from the same tokens at the same positions. Prompts of a causal model
share any common prefix of complete blocks; for a prefix decoder, whose prompt attends both ways, only an identical
prompt is shared. A prompt is visible to its owner only, so that neither times nor counts reveal other owners' prompts.
The cache manages ranges, not tensors, and reports which ranges become free.
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
    """A prompt that has been read.

    ranges: the locations of its keys, in order; the last one, ``own``, belongs to it, those before it to ``parents``,
    which stay as long as it does. users: current number of users; while there are any, it is a user of its parents.
    children: cached prompts with it as a parent. ending: other data kept with it (its last hidden state). owner: whose
    requests may use it.
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
    """One block of tokens below its ancestors; ``prompt`` holds all of them."""

    parent: _Node | None
    key: tuple[int, ...]
    prompt: CachedPrompt | None
    below: dict[tuple[int, ...], _Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A prefix of ``length`` tokens shared with a cached prompt; length 0 and prompt None if there is none."""

    prompt: CachedPrompt | None
    length: int

    @property
    def ranges(self) -> tuple[KeyRange, ...]:
        """The locations of its keys."""
        out = []
        left = self.length
        for part in self.prompt.ranges if self.prompt is not None else ():
            if left:
                out.append(part.first(min(left, part.length)))
                left -= out[-1].length
        return tuple(out)


class PrefixCache:
    """``limit``: maximum positions held by prompts without users; those in use do not count."""

    def __init__(self, block: int, limit: int) -> None:
        self._block, self._limit = block, limit
        self._roots: dict[str, _Node] = {}
        self._exact: dict[PromptKey, CachedPrompt] = {}
        self._idle: OrderedDict[int, CachedPrompt] = OrderedDict()  # least recently used first
        self._unused_positions = 0

    @property
    def idle_positions(self) -> int:
        """Positions held by prompts without users."""
        return self._unused_positions

    def __len__(self) -> int:
        return len(self._exact)

    def same(self, token_ids: tuple[int, ...], owner: str = "") -> CachedPrompt | None:
        """Return the owner's cached prompt with exactly these tokens."""
        return self._exact.get((owner, token_ids))

    def longest(self, token_ids: Sequence[int], owner: str = "") -> SharedPrefix:
        """Return the owner's longest cached prefix of complete blocks that leaves at least the last token to be
        read."""
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
        """Add a prompt that is in use, and uses its parents; one with the same tokens must not exist.

        beginnings: whether others may share a prefix of it (False for a prefix decoder).
        """
        if prompt.key in self._exact:
            raise ValueError("a prompt with these tokens is kept already")
        self._exact[prompt.key] = prompt
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
        """Count a user: the prompt and its parents stay until the last user has released them."""
        if not prompt.users:
            for parent in prompt.parents:
                self.use(parent)
            if self._idle.pop(id(prompt), None) is not None:
                self._unused_positions -= prompt.own.length
        prompt.users += 1

    def release(self, prompt: CachedPrompt) -> list[KeyRange]:
        """Remove a user; returns the ranges that are now free because idle prompts exceed the limit."""
        self._leave(prompt)
        freed: list[KeyRange] = []
        while self._unused_positions > self._limit:
            freed.extend(self.give_up_one())
        return freed

    def give_up_one(self) -> list[KeyRange]:
        """Evict the least recently used idle prompt without children; returns the freed ranges, if any."""
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

    def _leave(self, prompt: CachedPrompt) -> None:
        prompt.users -= 1
        if prompt.users:
            return
        self._idle[id(prompt)] = prompt
        self._unused_positions += prompt.own.length
        for parent in prompt.parents:
            self._leave(parent)

    def _forget(self, node: _Node) -> None:
        heir = next((below.prompt for below in node.below.values()), None)
        if heir is not None:  # it holds these tokens too, in its own copy
            node.prompt = heir
            heir.nodes.insert(0, node)
        elif node.parent is not None:
            del node.parent.below[node.key]
