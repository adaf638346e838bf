"""Every family against transformers on tiny random checkpoints that transformers itself writes, however work is split.

What Llama has without scaled positions is in test_llama_parity.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from model.checkpoints.loading import load_decoder
from tests.model.parity_helpers import PROMPT, Pair

CONTEXT = 96
SHAPE: dict[str, Any] = {
    "vocab_size": 193,
    "hidden_size": 32,
    "intermediate_size": 56,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    # Larger than the usual 0.02: logits then spread over several units, and a greedy choice is not a near tie.
    "initializer_range": 0.3,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
# 24 positions became 96: every dimension's regime (kept, mixed, interpolated) is there at D = 8 and theta 100.
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 24, "rope_theta": 100.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 24, "rope_theta": 100.0}
DEEPSEEK = {"mscale": 0.8, "mscale_all_dim": 0.5, "beta_fast": 8.0, "beta_slow": 0.5, "truncate": False}
GPT2: dict[str, Any] = {
    "n_embd": 32,
    "n_layer": 3,
    "n_head": 4,
    "n_positions": CONTEXT,
    "vocab_size": 193,
    "initializer_range": 0.3,
}
GPT2 |= {"bos_token_id": None, "eos_token_id": None}
# Name -> class of transformers' config, fields.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama-linear": ("LlamaConfig", {"rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 1e4}}),
    "llama-dynamic": ("LlamaConfig", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}}),
    "llama-llama3": ("LlamaConfig", {"rope_parameters": LLAMA3}),
    "llama-yarn": ("LlamaConfig", {"rope_parameters": YARN}),
    "qwen2-yarn-deepseek": ("Qwen2Config", {"rope_parameters": YARN | DEEPSEEK}),
    "qwen3-yarn-factor": ("Qwen3Config", {"rope_parameters": YARN | {"attention_factor": 0.7}, "head_dim": 8}),
    "mistral": ("MistralConfig", {"sliding_window": None, "head_dim": 12}),
    "mistral-window": ("MistralConfig", {"sliding_window": 7}),
    "qwen2": ("Qwen2Config", {"tie_word_embeddings": True}),
    "qwen2-window": ("Qwen2Config", {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 2}),
    "qwen3": ("Qwen3Config", {"head_dim": 12, "tie_word_embeddings": True}),
    "qwen3-window": (
        "Qwen3Config",
        {
            "head_dim": 12,
            "attention_bias": True,
            "use_sliding_window": True,
            "sliding_window": 5,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "smollm3": ("SmolLM3Config", {"no_rope_layer_interval": 2, "tie_word_embeddings": True}),
    "smollm3-window": (
        "SmolLM3Config",
        {
            "no_rope_layers": [1, 0, 1],
            "use_sliding_window": True,
            "sliding_window": 6,
            "attention_bias": True,
            "mlp_bias": True,
        },
    ),
    "gpt2": ("GPT2Config", {}),
    "gpt2-untied": ("GPT2Config", {"tie_word_embeddings": False, "activation_function": "gelu", "n_inner": 40}),
}
CLOSE: dict[str, Any] = {"atol": 1e-4, "rtol": 0.0}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Pair]:
    import transformers  # here: the import takes seconds

    made: dict[str, Pair] = {}

    def make(name: str) -> Pair:
        if name in made:
            return made[name]
        kind, fields = FAMILIES[name]
        config = getattr(transformers, kind)(**((GPT2 if kind == "GPT2Config" else SHAPE) | fields))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)  # with this seed no greedy choice below is a near tie, in any family
            model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
            for key, parameter in model.named_parameters():
                if parameter.ndim == 1:  # transformers starts biases at 0 and norms at 1, which hides errors
                    scale = "norm" in key or "ln_" in key
                    torch.nn.init.normal_(parameter, mean=float(scale and key.endswith("weight")), std=0.3)
        folder = tmp_path_factory.mktemp(name)
        model.save_pretrained(folder, max_shard_size="40KB" if name == "qwen3" else "1GB")
        made[name] = Pair(folder, model, load_decoder(folder))
        return made[name]

    return make


@pytest.mark.parametrize("name", FAMILIES)
@torch.inference_mode()
def test_logits_up_to_the_context_limit_cached_and_chunked(pair: Callable[[str], Pair], name: str) -> None:
    both = pair(name)
    ids = torch.randint(0, 193, (2, CONTEXT), generator=torch.Generator().manual_seed(1))
    expected = both.theirs(ids).logits
    assert expected.std() > 0.5  # the tolerance would mean nothing on logits near zero
    torch.testing.assert_close(both.ours.logits(both.ours(ids)), expected, **CLOSE)
    for split in ((CONTEXT,), (50, 1, 45), (3, 17, 1, 1, 60, 14)):
        cache = both.ours.new_cache(2, CONTEXT)
        cached = torch.cat([both.ours(part, cache) for part in ids.split_with_sizes(split, dim=1)], dim=1)
        torch.testing.assert_close(both.ours.logits(cached), expected, **CLOSE)


@pytest.mark.parametrize("name", FAMILIES)
@torch.inference_mode()
def test_64_greedy_tokens(pair: Callable[[str], Pair], name: str) -> None:
    both = pair(name)
    generated = both.theirs.generate(
        PROMPT, attention_mask=torch.ones_like(PROMPT), do_sample=False, max_new_tokens=64, pad_token_id=0
    )
    cache = both.ours.new_cache(1, PROMPT.shape[1] + 64)
    hidden, tokens, gap = both.ours(PROMPT, cache), [], float("inf")
    for _ in range(64):
        best = both.ours.logits(hidden[:, -1]).topk(2)
        gap = min(gap, (best.values[0, 0] - best.values[0, 1]).item())
        tokens.append(int(best.indices[0, 0]))
        hidden = both.ours(best.indices[:, :1], cache)
    assert gap > 2e-4  # twice the allowed difference of logits: equality is no luck
    assert len(set(tokens)) > 4  # not one token repeated, which a wrong model would repeat too
    assert tokens == generated[0, PROMPT.shape[1] :].tolist()


def left_padded(lengths: tuple[int, ...], total: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask (B, 1, T, T) and positions (B, T) of sequences that end together; padding reads itself only."""
    pads = total - torch.tensor(lengths)[:, None]
    column = torch.arange(total)[None]
    real = column >= pads  # (B, T)
    causal = column[..., None] >= column[:, None]
    mask = (causal & real[:, None]) | torch.eye(total, dtype=torch.bool)
    return mask[:, None], (column - pads).clamp(min=0)


@pytest.mark.parametrize("name", FAMILIES)
@torch.inference_mode()
def test_padded_batches_equal_single_sequences(pair: Callable[[str], Pair], name: str) -> None:
    both = pair(name)
    lengths, total = (12, 31, 23), 31  # beyond every window
    ids = torch.randint(0, 193, (3, total), generator=torch.Generator().manual_seed(2))
    singles = [both.theirs(row[None, :length]).logits[0] for row, length in zip(ids, lengths, strict=True)]
    right = both.ours.logits(both.ours(ids))
    moved = torch.stack([row.roll(total - length) for row, length in zip(ids, lengths, strict=True)])
    mask, positions = left_padded(lengths, total)
    left = both.ours.logits(both.ours(moved, mask=mask, positions=positions))
    cache = both.ours.new_cache(3, total)
    steps = [
        both.ours(moved[:, a:b], cache, mask=mask[:, :, a:b, :b], positions=positions[:, a:b])
        for a, b in ((0, 20), (20, 21), (21, total))
    ]
    cached = both.ours.logits(torch.cat(steps, dim=1))
    for row, length in enumerate(lengths):
        torch.testing.assert_close(right[row, :length], singles[row], **CLOSE)
        torch.testing.assert_close(left[row, total - length :], singles[row], **CLOSE)
        torch.testing.assert_close(cached[row, total - length :], singles[row], **CLOSE)


@pytest.mark.parametrize("name", ["mistral-window", "qwen2-window", "qwen3-window", "smollm3-window"])
@torch.inference_mode()
def test_a_window_hides_what_lies_before_it(pair: Callable[[str], Pair], name: str) -> None:
    model = pair(name).ours
    windows = [window for window in model.config.windows if window]
    ids = torch.randint(0, 193, (1, 40), generator=torch.Generator().manual_seed(3))
    other = ids.clone()
    other[0, 0] = (other[0, 0] + 1) % 193
    changed = (model(ids) - model(other)).abs().amax(dim=-1)[0] > 0
    if len(windows) == model.config.num_layers:
        reach = 1 + model.config.num_layers * (windows[0] - 1)  # each layer looks window - 1 further back
        assert changed[:reach].any() and not changed[reach:].any()
    else:
        assert changed[-1]  # layers without a window carry it on


@pytest.mark.parametrize("name", ["llama-llama3", "mistral-window", "qwen3", "smollm3", "gpt2"])
def test_half_precision_stays_close(pair: Callable[[str], Pair], name: str) -> None:
    both = pair(name)
    ids = torch.randint(0, 193, (1, 40), generator=torch.Generator().manual_seed(4))
    half = load_decoder(both.folder, dtype=torch.bfloat16)
    with torch.inference_mode():
        ours = torch.log_softmax(half.logits(half(ids)).float(), dim=-1)
        full = torch.log_softmax(both.ours.logits(both.ours(ids)), dim=-1)
        theirs = type(both.theirs).from_pretrained(both.folder, dtype=torch.bfloat16)(ids).logits
    lost = (ours - full).abs().mean()
    peers = (torch.log_softmax(theirs.float(), dim=-1) - full).abs().mean()
    assert 0 < lost < 1.5 * peers  # no more than transformers loses by the same dtype


def test_old_gpt2_names_and_buffers(pair: Callable[[str], Pair], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = pair("gpt2").folder
    stored = load_file(folder / "model.safetensors")
    old = {key.removeprefix("transformer."): tensor for key, tensor in stored.items()}
    old |= {"h.0.attn.bias": torch.ones(1, 1, 4, 4), "h.1.attn.masked_bias": torch.tensor(-1e4)}
    save_file(old, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with torch.inference_mode():
        assert torch.equal(load_decoder(tmp_path)(PROMPT), pair("gpt2").ours(PROMPT))
