"""Run the forward pass of a decoding step over all rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from generation.engine.graphs import GraphedDecoding, captured_on_cuda
from generation.engine.options import EngineOptions
from generation.engine.sequences import Rows
from generation.engine.step_rows import in_blocks
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena
from model.engine_state.decode_state import DecodeState
from model.engine_state.reads import RowGroup
from model.engine_state.unshared_reads import prepare_unshared_reads
from model.row_steps import RowSteps

_FEW_ROWS = 8
"""Maximum number of rows for which group-quantised weights are faster than plain ones: reading weights dominates."""


class DecodingPass:
    """The forward pass of decoding steps. Its states are reused between steps while the rows are unchanged.

    spare: position of the arena to which the padding rows of a block write.
    """

    def __init__(self, model: Decoder, arena: KeyValueArena, options: EngineOptions, spare: int) -> None:
        self._model, self._arena, self._options, self._spare = model, arena, options, spare
        self._states: list[DecodeState] | None = None
        self._graphs: GraphedDecoding | None = None
        if model.row_steps is not None:
            _prepare_kernels(model.row_steps, DecodeState(arena, [RowGroup(1, (), spare, 1, 1)], 1))
        elif options.invariant:
            prepare_unshared_reads(arena)
        if options.cuda_graphs and model.device.type == "cuda" and not (options.invariant or model.config.prefix):
            self._graphs = GraphedDecoding(model, arena, spare, captured_on_cuda)

    def rows_changed(self) -> None:
        """Rebuild the states at the next step, because rows joined, left or moved."""
        self._states = None
        if self._graphs is not None:
            self._graphs.rows_changed()

    def hidden(self, cohorts: Sequence[Rows]) -> Tensor:
        """Read the last token of every row and return the hidden states (N, E).

        No state changes before the entire pass has succeeded, so it can be retried after an error.
        """
        tokens = torch.tensor(
            [[sample.token_ids[-1]] for rows in cohorts for sample in rows.samples], device=self._model.device
        )
        if self._graphs is not None:
            hidden = self._graphs.hidden(tokens, [rows.group(0, len(rows.samples)) for rows in cohorts])
            for rows in cohorts:
                rows.read += 1
            return hidden
        states, self._states = self._states or self._new_states(cohorts), None
        steps = self._model.row_steps
        if steps is not None and self._steps_by_row(len(tokens)):
            hidden = steps.hidden(tokens, states[0])
        elif self._options.invariant:
            blocks = in_blocks(tokens, self._options.row_block)
            parts = [self._model(block, state)[:, -1] for block, state in zip(blocks, states, strict=True)]
            hidden = torch.cat(parts)[: len(tokens)]
        else:
            hidden = self._model(tokens, states[0])[:, -1]
        for rows in cohorts:
            rows.read += 1
        self._states = states
        return hidden

    def _steps_by_row(self, rows: int) -> bool:
        """Return whether to use the model's step kernels, if it has any: for few rows, and in invariant mode."""
        return self._model.row_steps is not None and (self._options.invariant or rows <= _FEW_ROWS)

    def _new_states(self, cohorts: Sequence[Rows]) -> list[DecodeState]:
        limit, invariant = self._model.config.max_positions, self._options.invariant
        if not invariant or self._steps_by_row(sum(len(rows.samples) for rows in cohorts)):
            groups = [rows.group(0, len(rows.samples)) for rows in cohorts]
            return [DecodeState(self._arena, groups, limit, invariant=invariant)]
        block = self._options.row_block
        return [
            DecodeState(
                self._arena,
                groups,
                limit,
                invariant=True,
                padding=block - sum(group.rows for group in groups),
                padding_slot=self._spare,
            )
            for groups in _groups_in_blocks(cohorts, block)
        ]


def _prepare_kernels(steps: RowSteps, state: DecodeState) -> None:
    """Load the step kernels, or compile them (about 15 seconds, once per machine), so that no request waits for it."""
    with torch.inference_mode():
        steps.hidden(torch.zeros(1, 1, dtype=torch.long), state)


def _groups_in_blocks(cohorts: Sequence[Rows], block: int) -> list[list[RowGroup]]:
    """Split the rows, in order, into blocks of ``block`` rows. The last block may have fewer."""
    blocks: list[list[RowGroup]] = []
    free = 0
    for rows in cohorts:
        first = 0
        while first < len(rows.samples):
            if not free:
                blocks.append([])
                free = block
            count = min(free, len(rows.samples) - first)
            blocks[-1].append(rows.group(first, count))
            first, free = first + count, free - count
    return blocks
