"""Does this machine compute a row alike wherever it stands in a block, and whatever stands beside it?

The invariant mode rests on that. It holds where matrix products of one shape run through the same kernel for all rows,
and elementwise kernels treat all elements alike; neither is promised by anybody, so it can be asked.
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
    """Whether one row's hidden state and logits are bitwise the same at every place of a block of row_block rows, among
    random other rows, and however many of them stand behind the same prompt. A trial costs row_block forward passes of
    one block."""
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
            for place in range(block):
                tokens = torch.randint(model.config.vocab_size, (block, 1), generator=random)
                tokens[place] = row
                # Cut behind the row: it is the last of place + 1 rows that read together.
                sizes = [size for size in (place + 1, block - place - 1) if size]
                groups = [
                    RowGroup(size, (KeyRange(0, past),), past + first, 1, 1)
                    for size, first in zip(sizes, (0, place + 1), strict=False)
                ]
                state = DecodeState(store, groups, model.config.max_positions, invariant=True)
                given = tokens.to(model.device)
                steps = model.row_steps
                hidden = model(given, state)[:, -1] if steps is None else steps.hidden(given, state)
                seen.append(hidden[place])
                if isinstance(model.head, LinearHead):
                    seen[-1] = torch.cat((hidden[place], model.logits(hidden)[place]))
            if not all(torch.equal(seen[0], other) for other in seen):
                return False
    return True
