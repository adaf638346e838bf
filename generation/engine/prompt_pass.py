"""Prefill: read the next chunks of waiting prompts, and keep the final states of prompts that are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from generation.engine.options import EngineOptions
from generation.engine.sequences import PromptEnd, PromptRun
from model.decoder.decoder import Decoder
from model.decoder.heads import PointerHead
from model.engine_state.arena import KeyValueArena
from model.engine_state.prefill_state import PrefillState, PromptSegment
from model.engine_state.ranges import KeyRange


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next ``steps`` tokens of a prompt that is being read."""

    run: PromptRun
    steps: int


def ending_bytes_per_position(model: Decoder) -> int:
    """Return the number of bytes kept for each prompt position, in addition to keys and values.

    A copying head keeps states, its own keys, and token IDs. Other models keep a single state for the entire prompt.
    """
    if not isinstance(model.head, PointerHead):
        return 0
    return 2 * model.config.hidden_size * model.dtype.itemsize + torch.long.itemsize


class PromptPass:
    """The forward pass over prompts.

    It reads several prompts of a causal model at once, in chunks, and complete prompts of a prefix decoder one by one.
    """

    def __init__(self, model: Decoder, arena: KeyValueArena, options: EngineOptions) -> None:
        self._model, self._arena, self._options = model, arena, options

    def next_chunks(self, runs: Sequence[PromptRun]) -> list[Chunk]:
        """Select what one pass reads: up to prefill_tokens tokens of the runs, in order.

        A prefix decoder reads the first prompt completely. In invariant mode only the first run is read, up to the next
        multiple of prefill_tokens.
        """
        if not runs:
            return []
        if self._model.config.prefix:
            return [Chunk(runs[0], runs[0].left)]
        left = self._options.prefill_tokens
        if self._options.invariant:
            return [Chunk(runs[0], min(runs[0].left, left - runs[0].done % left))]
        out = []
        for run in runs:
            if not left:
                break
            out.append(Chunk(run, min(run.left, left)))
            left -= out[-1].steps
        return out

    def read(self, chunks: Sequence[Chunk]) -> None:
        """Run one forward pass and keep the ending of prompts that are now read. An error changes no state."""
        prefix = self._model.config.prefix
        tokens: list[int] = []
        segments = []
        for chunk in chunks:
            prompt, done = chunk.run.prompt, chunk.run.done
            tokens.extend(prompt.token_ids[done : done + chunk.steps])
            shared = sum(part.length for part in prompt.ranges[:-1])
            ranges = (*prompt.ranges[:-1], prompt.own.first(done - shared))
            past = tuple(_joined([part for part in ranges if part.length]))
            segments.append(PromptSegment(chunk.steps, past, prompt.own.start + done - shared, prefix))
        state = PrefillState(self._arena, segments, self._model.config.max_positions)
        ids = torch.tensor([tokens], device=self._model.device)
        hidden = self._model(ids, state)  # (1, T, E)
        end = 0
        for chunk in chunks:
            end += chunk.steps
            chunk.run.done += chunk.steps
            if not chunk.run.left:
                chunk.run.prompt.ending = self._ending(hidden, end, ids)

    def _ending(self, hidden: Tensor, end: int, ids: Tensor) -> PromptEnd:
        last = hidden[0, end - 1 : end].clone()  # not a view, which would keep the chunk's other states alive
        head = self._model.head
        if not isinstance(head, PointerHead):
            return PromptEnd(last)
        return PromptEnd(last, hidden, ids, head.keys(hidden))


def _joined(ranges: Sequence[KeyRange]) -> list[KeyRange]:
    """Merge adjacent ranges."""
    out: list[KeyRange] = []
    for part in ranges:
        if out and out[-1].end == part.start:
            out[-1] = KeyRange(out[-1].start, out[-1].length + part.length)
        else:
            out.append(part)
    return out
