"""Test whether this machine computes a row identically at any position of a block, and with any other rows.

The invariant mode relies on this. It is true if matrix products of one shape use the same kernel for all rows, and if
elementwise kernels treat all elements alike. No library guarantees either.
"""

from __future__ import annotations

import torch

from generation.engine.options import EngineOptions
from model.decoder.decoder import Decoder
from model.decoder.heads import LinearHead
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.decode_state import DecodeState
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup


def rows_agree(model: Decoder, options: EngineOptions, *, trials: int = 3, seed: int = 0) -> bool:
    """Return whether a row's hidden state and logits are bitwise equal at every position of a block.

    A block has options.row_block rows. The other rows are random, and a varying number of them share the row's prompt.
    A trial costs row_block forward passes of one block.
    """
    block, past = options.row_block, min(40, model.config.max_positions - 1)
    random = torch.Generator().manual_seed(seed)
    budget = (past + block) * bytes_per_position(model.config, model.dtype)
    with torch.inference_mode():
        for _ in range(trials):
            store = KeyValueArena(model.config, budget, dtype=model.dtype, device=model.device)
            shape = store.keys[:, :past].shape
            store.keys[:, :past] = torch.randn(shape, generator=random).to(store.keys)
            store.values[:, :past] = torch.randn(shape, generator=random).to(store.values)
            row = int(torch.randint(model.config.vocab_size, (), generator=random))
            seen: list[torch.Tensor] = []
            for position in range(block):
                tokens = torch.randint(model.config.vocab_size, (block, 1), generator=random)
                tokens[position] = row
                # The row is the last one of its group, which has position + 1 rows.
                sizes = [size for size in (position + 1, block - position - 1) if size]
                groups = [
                    RowGroup(size, (KeyRange(0, past),), past + first, 1, 1)
                    for size, first in zip(sizes, (0, position + 1), strict=False)
                ]
                state = DecodeState(store, groups, model.config.max_positions, invariant=True)
                given = tokens.to(model.device)
                steps = model.row_steps
                hidden = model(given, state)[:, -1] if steps is None else steps.hidden(given, state)
                seen.append(hidden[position])
                if isinstance(model.head, LinearHead):
                    seen[-1] = torch.cat((hidden[position], model.logits(hidden)[position]))
            if not all(torch.equal(seen[0], other) for other in seen):
                return False
    return True
