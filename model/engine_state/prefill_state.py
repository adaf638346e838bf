"""The AttentionState of prefill: segments of several prompts in one sequence, each of which reads its own prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoder.attention import window_mask
from model.engine_state.arena import KeyValueArena
from model.engine_state.cascade import merge, read_part
from model.engine_state.ranges import KeyRange
from model.errors import ModelError


@dataclass(frozen=True, slots=True)
class PromptSegment:
    """A number of consecutive tokens of one prompt.

    steps: number of tokens. past: arena ranges of the prompt's earlier keys. start: arena position of the first token.
    both_ways: whether attention is bidirectional, for the complete prompt of a prefix decoder.
    """

    steps: int
    past: tuple[KeyRange, ...]
    start: int
    both_ways: bool = False

    @property
    def done(self) -> int:
        """Number of the prompt's positions before this segment."""
        return sum(part.length for part in self.past)


class PrefillState:
    """The AttentionState of one pass over the tokens of all segments, with token ids (1, sum of steps).

    Raises ModelError for an invalid segment.
    """

    def __init__(self, arena: KeyValueArena, segments: Sequence[PromptSegment], max_positions: int) -> None:
        for segment in segments:
            if segment.steps < 1:
                raise ModelError("a segment needs at least one token")
            if segment.done + segment.steps > max_positions:
                total = segment.done + segment.steps
                raise ModelError(f"{total} tokens do not fit the context of {max_positions} positions")
            if segment.both_ways and segment.past:
                raise ModelError("a bidirectional prompt cannot follow earlier positions: it is read in full")
        self._arena, self._segments = arena, tuple(segments)
        self._near: dict[tuple[int, int, int], Tensor] = {}

    def positions(self, steps: int) -> Tensor:
        """Return the position of each token in its own prompt, (1, T). See AttentionState."""
        if steps != sum(segment.steps for segment in self._segments):
            raise ModelError(f"{steps} tokens were given, which is not the number of tokens of the segments")
        device = self._arena.keys.device
        parts = [torch.arange(s.done, s.done + s.steps, device=device) for s in self._segments]
        return torch.cat(parts)[None]

    def attend(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, window: int | None, mask: Tensor | None
    ) -> Tensor:
        """Store the new keys and values and attend for query (1, H, T, D). See AttentionState."""
        if mask is not None:
            raise ModelError("a prefill of the engine does not accept a mask")
        outputs = []
        begin = 0
        for segment in self._segments:
            end = begin + segment.steps
            q, k, v = query[:, :, begin:end], keys[:, :, begin:end], values[:, :, begin:end]
            self._arena.store_range(layer, segment.start, k[0].transpose(0, 1), v[0].transpose(0, 1))
            total = segment.done + segment.steps
            if window is not None and window < total:
                outputs.append(self._read_window(layer, q, k, v, segment, window))
            else:
                outputs.append(self._read(layer, q, k, v, segment))
            begin = end
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=2)

    def advance(self, steps: int) -> None:
        """Do nothing, because a state serves one pass only."""

    def _read(self, layer: int, query: Tensor, keys: Tensor, values: Tensor, segment: PromptSegment) -> Tensor:
        """Return the attention among the new tokens, merged with the attention over each earlier range."""
        part = read_part(query, keys, values, causal=not segment.both_ways)
        for past in segment.past:
            part = merge(part, read_part(query, *self._arena.view(layer, past.start, 1, 0, past.length)))
        return part.output

    def _read_window(
        self, layer: int, query: Tensor, keys: Tensor, values: Tensor, segment: PromptSegment, window: int
    ) -> Tensor:
        """Return the attention over all positions within the window, by a mask.

        Ranges are not read separately, because some tokens may read no position of an earlier range.
        """
        skipped = max(segment.done + 1 - window, 0)
        all_keys, all_values = [], []
        for past in segment.past:
            near = past.without_first(min(skipped, past.length))
            skipped -= past.length - near.length
            if near.length:
                near_keys, near_values = self._arena.view(layer, near.start, 1, 0, near.length)
                all_keys.append(near_keys)
                all_values.append(near_values)
        joined_keys, joined_values = torch.cat((*all_keys, keys), dim=2), torch.cat((*all_values, values), dim=2)
        mask = self._window_mask(joined_keys.shape[2], segment.steps, window)
        return read_part(query, joined_keys, joined_values, mask).output

    def _window_mask(self, total: int, steps: int, window: int) -> Tensor:
        """Return the causal mask within the window, (T, S). It is built once for all layers."""
        if (total, steps, window) not in self._near:
            device = self._arena.keys.device
            rows = torch.arange(total - steps, total, device=device)[:, None]
            causal = torch.arange(total, device=device)[None, :] <= rows
            self._near[total, steps, window] = causal & window_mask(total, steps, window, device)
        return self._near[total, steps, window]
