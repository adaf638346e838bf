"""Our decoder against transformers' LlamaForCausalLM on tiny random checkpoints that transformers itself writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.loading import load_decoder
from model.checkpoints.source import fingerprint
from model.decoder.decoder import Decoder
from model.errors import ModelError
from tests.model.parity_helpers import PROMPT, Pair

BASE: dict[str, Any] = {
    "vocab_size": 193,
    "hidden_size": 32,
    "intermediate_size": 56,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "max_position_embeddings": 96,
    "rms_norm_eps": 1e-5,
    # Larger than the usual 0.02: logits then spread over several units, and a greedy choice is not a near tie.
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": None,
    "tie_word_embeddings": False,
}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "grouped": {"num_key_value_heads": 2},
    "one key head, tied": {"num_key_value_heads": 1, "tie_word_embeddings": True},
    "biases": {"attention_bias": True, "mlp_bias": True, "num_key_value_heads": 2},
    "explicit head size": {"head_dim": 12, "num_key_value_heads": 2},
    "rotary base": {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}},
    "sharded": {"num_key_value_heads": 2},
    "bf16 on disk": {"num_key_value_heads": 2},
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    from transformers import LlamaConfig, LlamaForCausalLM  # here: the import takes seconds

    made: dict[str, Pair] = {}

    def make(variant: str) -> Pair:
        if variant in made:
            return made[variant]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)  # with this seed no greedy choice below is a near tie, in any variant
            model = LlamaForCausalLM(LlamaConfig(**(BASE | VARIANTS[variant])))
            for name, parameter in model.named_parameters():
                if name.endswith("bias") or "norm" in name:  # transformers starts these at 0 and 1, which hides errors
                    torch.nn.init.normal_(parameter, mean=float("norm" in name), std=0.3)
        folder = tmp_path_factory.mktemp("checkpoint")
        dtype = torch.bfloat16 if variant == "bf16 on disk" else torch.float32
        model.to(dtype).save_pretrained(folder, max_shard_size="20KB" if variant == "sharded" else "1GB")
        theirs = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        made[variant] = Pair(folder, theirs, load_decoder(folder))
        return made[variant]

    return make


@torch.inference_mode()
def greedy(model: Decoder, prompt: torch.Tensor, steps: int) -> tuple[list[int], float]:
    """Tokens of greedy decoding from the cache, and the smallest gap between the best and the second logit."""
    cache = model.new_cache(1, prompt.shape[1] + steps)
    hidden, out, gap = model(prompt, cache), [], float("inf")
    for _ in range(steps):
        best = model.logits(hidden[:, -1]).topk(2)
        gap = min(gap, (best.values[0, 0] - best.values[0, 1]).item())
        out.append(int(best.indices[0, 0]))
        hidden = model(best.indices[:, :1], cache)
    return out, gap


@pytest.mark.parametrize("variant", VARIANTS)
def test_logits(pair: Callable[[str], Pair], variant: str) -> None:
    both = pair(variant)
    ids = torch.randint(0, 193, (2, 96), generator=torch.Generator().manual_seed(1))  # the whole context
    with torch.inference_mode():
        expected = both.theirs(ids).logits
        found = both.ours.logits(both.ours(ids))
        cache = both.ours.new_cache(2, 96)
        cached = torch.cat([both.ours.logits(both.ours(part, cache)) for part in ids.split((50, 1, 45), dim=1)], 1)
    assert expected.std() > 1.0  # the tolerance would mean nothing on logits near zero
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    torch.testing.assert_close(cached, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_64_greedy_tokens(pair: Callable[[str], Pair], variant: str) -> None:
    both = pair(variant)
    generated = both.theirs.generate(
        PROMPT, attention_mask=torch.ones_like(PROMPT), do_sample=False, max_new_tokens=64, pad_token_id=0
    )
    tokens, gap = greedy(both.ours, PROMPT, 64)
    assert gap > 1e-3  # ten times the allowed difference of logits: equality is no luck
    assert len(set(tokens)) > 10  # not one token repeated, which a wrong model would repeat too
    assert tokens == generated[0, PROMPT.shape[1] :].tolist()


def test_sharded_checkpoint_has_shards(pair: Callable[[str], Pair]) -> None:
    assert len(list(pair("sharded").folder.glob("model-*.safetensors"))) > 3
    assert not (pair("sharded").folder / "model.safetensors").exists()


def test_missing_shard_of_a_real_checkpoint(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    for file in pair("sharded").folder.iterdir():
        if not file.name.startswith("model-00002"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match="model-00002-of"):
        load_decoder(tmp_path)


def test_eos_and_fingerprint_of_a_real_checkpoint(pair: Callable[[str], Pair]) -> None:
    assert eos_token_ids(pair("plain").folder) == ()
    assert fingerprint(pair("plain").folder) == fingerprint(pair("plain").folder)
    assert fingerprint(pair("plain").folder) != fingerprint(pair("bf16 on disk").folder)


def test_tied_head_shares_the_embedding(pair: Callable[[str], Pair]) -> None:
    both = pair("one key head, tied")
    assert both.ours.config.tied_head
    assert "head.weight" not in both.ours.state_dict()
