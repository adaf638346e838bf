"""Keys, loading and replaying of CUDA graphs, with the step itself in place of a capture."""

from __future__ import annotations

from collections.abc import Callable

import torch

from generation.engine.graphs import GraphedDecoding, GraphKey, Replay, graph_key
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.prefill_state import PrefillState, PromptSegment
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup

Tiny = Callable[[str], Decoder]


def test_every_step_fits_its_key_and_few_keys_serve_all() -> None:
    keys = {graph_key(rows, longest, 5000) for rows in range(1, 65) for longest in range(1, 5001, 7)}
    assert len(keys) == 7 * 6
    for rows in (1, 3, 16, 17):
        for longest in (1, 256, 257, 4097, 5000):
            key = graph_key(rows, longest, 5000)
            assert rows <= key.rows < 2 * rows
            assert longest <= key.capacity <= 5000
    assert graph_key(1, 40, 40) == GraphKey(1, 40)


def test_replayed_steps_equal_the_whole_sequence(tiny: Tiny) -> None:
    for kind in ("llama", "window"):
        model = tiny(kind)
        captured: list[Callable[[], torch.Tensor]] = []

        def eager(step: Callable[[], torch.Tensor], captured: list[Callable[[], torch.Tensor]] = captured) -> Replay:
            captured.append(step)
            return step

        budget = 200 * bytes_per_position(model.config, torch.float32)
        store = KeyValueArena(model.config, budget, dtype=torch.float32)
        prompt = list(range(1, 11))
        model(torch.tensor([prompt]), PrefillState(store, [PromptSegment(10, (), 0)], 40))
        graphs = GraphedDecoding(model, store, 199, eager)
        rows = [list(prompt) for _ in range(3)]
        for step in range(6):
            if step == 3:  # the second row leaves, and the third moves to its position
                store.copy(KeyRange(70, 3), 60)
                del rows[1]
                graphs.rows_changed()
            for place, row in enumerate(rows):
                row.append(3 * place + step)
            group = RowGroup(len(rows), (KeyRange(0, 10),), 50, 10, step + 1)
            hidden = graphs.hidden(torch.tensor([[row[-1]] for row in rows]), [group])
            for place, row in enumerate(rows):
                expected = model(torch.tensor([row]))[0, -1]
                torch.testing.assert_close(hidden[place], expected, atol=1e-5, rtol=1e-5)
        assert graphs.keys == (GraphKey(4, 40), GraphKey(2, 40))
        assert len(captured) == 2
