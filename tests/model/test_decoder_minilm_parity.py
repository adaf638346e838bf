"""A prefix decoder warm-started from MiniLM reads a prompt exactly as MiniLM itself does."""

from __future__ import annotations

import torch

from model.checkpoints.minilm import minilm_folder
from model.reader.prefix_decoder import warm_start


def test_prompt_states_are_those_of_minilm() -> None:
    from transformers import BertModel  # here: the import takes seconds

    bert = BertModel.from_pretrained(minilm_folder(), dtype=torch.float32, add_pooling_layer=False).eval()
    ids = torch.randint(1000, 30000, (2, 60), generator=torch.Generator().manual_seed(0))
    ids[:, 0], ids[:, -1] = 101, 102
    model = warm_start(0).eval()
    with torch.inference_mode():
        expected = bert(ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        torch.testing.assert_close(model(ids), expected, atol=1e-4, rtol=0)
