"""Admit requests: allocate memory for prompts and rows, share prefixes, and manage the prompt cache.

Requests are admitted first come, first served. If one does not fit yet, it waits, and so do those after it, so that no
request starves. A request's samples may be admitted in several parts.
"""

from __future__ import annotations

from collections import deque

from generation.engine.options import EngineOptions
from generation.engine.prefix_cache import CachedPrompt, PrefixCache, PromptKey, SharedPrefix
from generation.engine.sequences import PromptRun, Rows, Sample, Ticket
from model.decoder.config import DecoderConfig
from model.engine_state.arena import KeyValueArena
from model.engine_state.ranges import KeyRange, RangeAllocator


class Admission:
    """The queue of requests, and the memory that they share.

    runs: prompts that are being read, in order. One run serves all rows that need its prompt.
    """

    def __init__(self, config: DecoderConfig, arena: KeyValueArena, options: EngineOptions) -> None:
        self._arena, self._options, self._prefix = arena, options, config.prefix
        self._free = RangeAllocator(arena.total)
        self.spare = self._take_or_fail(1).start  # padding rows of a block write to this position
        self._cache = PrefixCache(options.shared_block, options.cache_bytes // arena.position_bytes)
        self.runs: dict[PromptKey, PromptRun] = {}
        self._waiting: deque[Ticket] = deque()
        self._rows = 0

    @property
    def capacity(self) -> int:
        """Maximum number of positions for one request."""
        return self._free.total - 1

    @property
    def free(self) -> int:
        """Number of available positions: free ones, and those of cached prompts without users."""
        return self._free.free + self._cache.idle_positions

    @property
    def queued(self) -> int:
        """Number of requests with samples that have no row yet."""
        return len(self._waiting)

    def enqueue(self, ticket: Ticket) -> None:
        """Add the request to the queue."""
        self._waiting.append(ticket)

    def leave_queue(self, ticket: Ticket) -> None:
        """Remove a cancelled or failed request from the queue."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)

    def admit(self) -> list[Rows]:
        """Allocate and return rows for as many waiting samples as fit, in order. Their prompts may still be unread."""
        admitted = []
        while self._waiting:
            ticket = self._waiting[0]
            rows = self._admit(ticket)
            if rows is None:
                break
            admitted.append(rows)
            if not ticket.waiting:
                self._waiting.popleft()
        return admitted

    def prompt_done(self, run: PromptRun) -> None:
        """Add a prompt that has been read to the cache. Its rows are its users."""
        del self.runs[run.prompt.key]
        self._cache.add(run.prompt, share_prefixes=not self._prefix)

    def shrink(self, rows: Rows, count: int) -> None:
        """Keep only the first ``count`` rows and free the others' memory. If none remain, the prompt loses a user."""
        self._rows -= len(rows.samples) - count
        kept = rows.own.first(count * rows.stride)
        self._free.give_back(rows.own.without_first(kept.length))
        rows.own = kept
        if count:
            return
        run = self.runs.get(rows.prompt.key)
        if run is None or run.prompt is not rows.prompt:
            self._release(rows.prompt)
            return
        rows.prompt.users -= 1
        if not rows.prompt.users:  # nobody needs the prompt, which is not fully read
            del self.runs[rows.prompt.key]
            self._free.give_back(rows.prompt.own)
            for parent in rows.prompt.parents:
                self._release(parent)

    def _release(self, prompt: CachedPrompt) -> None:
        for freed in self._cache.release(prompt):
            self._free.give_back(freed)

    def _admit(self, ticket: Ticket) -> Rows | None:
        max_count = min(len(ticket.waiting), self._options.max_rows - self._rows)
        if max_count < 1:
            return None
        tokens = ticket.request.prompt
        cached = self._cache.same(tokens, ticket.request.owner)
        run = self.runs.get((ticket.request.owner, tokens))
        if cached is None and run is None:
            return self._admit_new(ticket, max_count)
        prompt = cached or (run.prompt if run is not None else None)
        if prompt is None:
            raise AssertionError("a prompt is neither kept nor being read")
        self._use(prompt)
        stride = ticket.max_new - 1
        own, count = self._allocate_rows(0, stride, max_count)
        if own is None:
            self._unuse(prompt)
            if self._rows:
                return None
            # Nothing runs, so only the cached prompt itself, in the middle of the free memory, blocks its rows.
            self._evict_all()
            return self._admit_new(ticket, max_count)
        if ticket.shared_tokens < 0:
            ticket.shared_tokens = len(tokens)
        return self._new_rows(ticket, prompt, own, stride, count)

    def _admit_new(self, ticket: Ticket, max_count: int) -> Rows | None:
        tokens, owner = ticket.request.prompt, ticket.request.owner
        prefix = SharedPrefix(None, 0) if self._prefix else self._cache.longest(tokens, owner)
        if not self._prefix and self._should_wait(tokens, owner, prefix.length):
            return None
        rows = self._admit_with_prefix(ticket, prefix, max_count)
        if rows is None and prefix.length and not self._rows:
            # Nothing runs, and the shared prefix blocks the rest: read the entire prompt again.
            rows = self._admit_with_prefix(ticket, SharedPrefix(None, 0), max_count)
        return rows

    def _admit_with_prefix(self, ticket: Ticket, prefix: SharedPrefix, max_count: int) -> Rows | None:
        tokens, stride = ticket.request.prompt, ticket.max_new - 1
        owner = ticket.request.owner
        source = prefix.prompt
        if source is not None:
            self._use(source)
        copied = prefix.length if self._options.invariant else 0
        length = len(tokens) - prefix.length + copied
        taken, count = self._allocate_rows(length, stride, max_count)
        if taken is None:
            if source is not None:
                self._unuse(source)
            return None
        own = taken.first(length)
        if self._options.invariant:
            # Copy the prefix, so that the prompt is in one range: the order of summation must not depend on other
            # requests.
            target = own.start
            for part in prefix.ranges:
                self._arena.copy(part, target)
                target += part.length
            prompt = CachedPrompt(tokens, (own,), own, owner=owner)
            if source is not None:
                self._unuse(source)
        else:
            parents = () if source is None else (source,)
            prompt = CachedPrompt(tokens, (*prefix.ranges, own), own, parents, owner=owner)
        self.runs[prompt.key] = PromptRun(prompt, prefix.length)
        prompt.users = 1
        if ticket.shared_tokens < 0:
            ticket.shared_tokens = prefix.length
        return self._new_rows(ticket, prompt, taken.without_first(length), stride, count)

    def _new_rows(self, ticket: Ticket, prompt: CachedPrompt, own: KeyRange, stride: int, count: int) -> Rows:
        samples: list[Sample] = [ticket.waiting.popleft() for _ in range(count)]
        self._rows += count
        return Rows(ticket, prompt, samples, own, stride)

    def _should_wait(self, tokens: tuple[int, ...], owner: str, shared: int) -> bool:
        """Return whether to wait for a prompt that is being read, to share its prefix.

        This is the case if one of the owner's prompts has at least a quarter of these tokens in addition to those that
        the cache shares now. shared: number of tokens that the cache shares.
        """
        block = self._options.shared_block
        for run in self.runs.values():
            if run.prompt.owner != owner:
                continue
            other = run.prompt.token_ids
            common = 0
            while tokens[common : common + block] == other[common : common + block] and common + block < len(tokens):
                common += block
            if common - shared >= max(block, len(tokens) // 4):
                return True
        return False

    def _allocate_rows(self, fixed: int, stride: int, max_count: int) -> tuple[KeyRange | None, int]:
        """Allocate a range for ``fixed`` positions and as many rows as fit.

        Returns the range and the number of rows, or None and 0 if no row fits.
        """
        count = max_count
        while count:
            taken = self._take(fixed + count * stride)
            if taken is not None:
                return taken, count
            count //= 2
        return None, 0

    def _take(self, length: int) -> KeyRange | None:
        taken = self._free.take(length)
        while taken is None and length <= self.free:
            freed = self._cache.evict_one()
            if not freed:
                return None
            for part in freed:
                self._free.give_back(part)
            taken = self._free.take(length)
        return taken

    def _evict_all(self) -> None:
        while freed := self._cache.evict_one():
            for part in freed:
                self._free.give_back(part)

    def _take_or_fail(self, length: int) -> KeyRange:
        taken = self._free.take(length)
        if taken is None:
            raise AssertionError("an empty arena has no free position")
        return taken

    def _use(self, prompt: CachedPrompt) -> None:
        if prompt.key in self.runs:
            prompt.users += 1
        else:
            self._cache.use(prompt)

    def _unuse(self, prompt: CachedPrompt) -> None:
        if prompt.key in self.runs:
            prompt.users -= 1
        else:
            self._release(prompt)
