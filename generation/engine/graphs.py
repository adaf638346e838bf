"""Decoding steps captured as CUDA graphs, one for every combination of shapes.

A graph replays the kernels of one step with the tensors it was captured with. Values that change between steps must
therefore be numbers in tensors of fixed shapes (model/engine_state/indexed_state.py), and two steps may share a graph
only if all of their shapes are equal. Rows and positions are rounded up, so that few graphs serve all steps. Written
for NVIDIA GPUs and not yet run on one; everything except the capture itself is tested on a CPU.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena
from model.engine_state.indexed_state import IndexedDecodeState
from model.engine_state.reads import RowGroup

_GRAPHS = 32  # beyond this the least recently used graph is dropped
_SHORTEST = 256


@dataclass(frozen=True, slots=True)
class GraphKey:
    """The shapes of a captured step. Model, arena, dtype and device are the same for all steps of an engine.

    rows: number of rows, a power of two. capacity: number of positions that a row can read, a power of two from 256 on
    or the full context.
    """

    rows: int
    capacity: int


def graph_key(rows: int, longest: int, max_positions: int) -> GraphKey:
    """Return the smallest shape to capture for ``rows`` rows.

    longest: number of positions of the longest row, including the token being read.
    """
    capacity = max(_SHORTEST, 1 << (longest - 1).bit_length())
    return GraphKey(1 << (rows - 1).bit_length(), min(capacity, max_positions))


class Replay(Protocol):
    """A captured step, which reads its input tokens and its state in place."""

    def __call__(self) -> Tensor:
        """Replay the step and return its output (R, 1, E)."""


Capture = Callable[[Callable[[], Tensor]], Replay]
"""Function that converts a step into one that can be replayed."""


def captured_on_cuda(step: Callable[[], Tensor]) -> Replay:
    """Capture a step as a CUDA graph. It must be repeatable, because it has to run a few times before the capture."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step()

    def replay() -> Tensor:
        graph.replay()
        return out

    return replay


@dataclass(frozen=True, slots=True)
class _Captured:
    tokens: Tensor
    state: IndexedDecodeState
    replay: Replay


class GraphedDecoding:
    """A decoder that replays captured steps.

    spare: position of the arena to which padding rows write. capture: ``captured_on_cuda``; tests on a CPU pass a
    function that returns the step itself.
    """

    def __init__(self, model: Decoder, arena: KeyValueArena, spare: int, capture: Capture) -> None:
        self._model, self._arena, self._spare, self._capture = model, arena, spare, capture
        self._captured: OrderedDict[GraphKey, _Captured] = OrderedDict()
        self._loaded: GraphKey | None = None

    @property
    def keys(self) -> tuple[GraphKey, ...]:
        """The captured shapes, least recently used first."""
        return tuple(self._captured)

    def rows_changed(self) -> None:
        """Load the rows again at the next step, because they changed."""
        self._loaded = None

    def hidden(self, tokens: Tensor, groups: Sequence[RowGroup]) -> Tensor:
        """Read one token for each row and return the hidden states (N, E), which are valid until the next call.

        tokens: token IDs (N, 1), one for each row of the groups.
        """
        rows, longest = tokens.shape[0], max(group.length for group in groups)
        key = graph_key(rows, longest, self._model.config.max_positions)
        captured = self._captured.get(key) or self._new(key)
        self._captured.move_to_end(key)
        if self._loaded == key:
            captured.state.next_step()
        else:
            captured.state.load(groups)
        self._loaded = None  # after an error in the replay, everything is loaded again
        captured.tokens[:rows] = tokens
        hidden = captured.replay()[:rows, -1]
        self._loaded = key
        return hidden

    def _new(self, key: GraphKey) -> _Captured:
        if len(self._captured) >= _GRAPHS:
            self._captured.popitem(last=False)
        tokens = torch.zeros((key.rows, 1), dtype=torch.long, device=self._model.device)
        state = IndexedDecodeState(self._arena, key.rows, key.capacity, self._spare)
        state.load(())  # capturing must not write to positions in use
        captured = _Captured(tokens, state, self._capture(lambda: self._model(tokens, state)))
        self._captured[key] = captured
        return captured
