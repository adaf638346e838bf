"""Prefill: read the next chunks of waiting prompts, and keep the final states of a finished one."""

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
    """``steps`` more tokens of a run."""

    run: PromptRun
    steps: int


def ending_bytes_per_position(model: Decoder) -> int:
    """Bytes kept of a prompt in addition to its keys and values, for each position: a copying head's states, keys and
    token ids.

    A causal model keeps a single state, whatever the prompt's length.
    """
    if not isinstance(model.head, PointerHead):
        return 0
    return 2 * model.config.hidden_size * model.dtype.itemsize + torch.long.itemsize


class PromptPass:
    """Reads a causal model's prompts in chunks, several side by side; a prefix decoder's whole, one at a time."""

    def __init__(self, model: Decoder, arena: KeyValueArena, options: EngineOptions) -> None:
        self._model, self._arena, self._options = model, arena, options

    def next_chunks(self, runs: Sequence[PromptRun]) -> list[Chunk]:
        """Select what one pass reads: up to prefill_tokens tokens of the runs in order, or a prefix decoder's first
        prompt.

        In invariant mode only one run, up to the next multiple of prefill_tokens.
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
        """Run one forward pass; finished runs then have their ending. No state changes before it has succeeded."""
        prefix = self._model.config.prefix
        tokens: list[int] = []
        stretches = []
        for chunk in chunks:
            kept, done = chunk.run.kept, chunk.run.done
            tokens.extend(kept.token_ids[done : done + chunk.steps])
            shared = sum(part.length for part in kept.ranges[:-1])
            before = (*kept.ranges[:-1], kept.own.first(done - shared))
            past = tuple(_joined([part for part in before if part.length]))
            stretches.append(PromptSegment(chunk.steps, past, kept.own.start + done - shared, prefix))
        state = PrefillState(self._arena, stretches, self._model.config.max_positions)
        ids = torch.tensor([tokens], device=self._model.device)
        hidden = self._model(ids, state)  # (1, T, E)
        end = 0
        for chunk in chunks:
            end += chunk.steps
            chunk.run.done += chunk.steps
            if not chunk.run.left:
                chunk.run.kept.ending = self._ending(hidden, end, ids)

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
