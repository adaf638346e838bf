"""Map the tensors of a Hugging Face checkpoint to Decoder parameters, for the two naming schemes.

A target is a parameter or a view of one, because query, key and value are one matrix here, and so are gate and up.
"""

from __future__ import annotations

from torch import Tensor

from model.decoder.decoder import Decoder

HEAD = "lm_head.weight"


def llama_tensors(model: Decoder, stored: frozenset[str] = frozenset()) -> dict[str, Tensor]:
    """Return the target of each tensor in Llama's naming (also Mistral, Qwen, SmolLM).

    stored: the checkpoint's keys; unused for this naming.
    """
    config = model.config
    ours: dict[str, Tensor] = dict(model.named_parameters())
    key_value = config.num_kv_heads * config.head_dim
    qkv = (config.num_heads * config.head_dim, key_value, key_value)
    out = {
        "model.embed_tokens.weight": ours.pop("embedding.weight"),
        "model.norm.weight": ours.pop("final_norm.weight"),
    }
    if not config.tied_head:
        out[HEAD] = ours.pop("head.weight")
    for layer in range(config.num_layers):
        old, new = f"model.layers.{layer}", f"blocks.{layer}"
        out[f"{old}.input_layernorm.weight"] = ours.pop(f"{new}.attention_norm.weight")
        out[f"{old}.post_attention_layernorm.weight"] = ours.pop(f"{new}.mlp_norm.weight")
        for kind in _kinds(config.attention_bias):
            parts = ours.pop(f"{new}.attention.qkv.{kind}").detach().split_with_sizes(qkv)
            for name, part in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
                out[f"{old}.self_attn.{name}.{kind}"] = part
        for kind in _kinds(config.output_bias):
            out[f"{old}.self_attn.o_proj.{kind}"] = ours.pop(f"{new}.attention.out.{kind}")
        if config.qk_norm:
            out[f"{old}.self_attn.q_norm.weight"] = ours.pop(f"{new}.attention.query_norm.weight")
            out[f"{old}.self_attn.k_norm.weight"] = ours.pop(f"{new}.attention.key_norm.weight")
        for kind in _kinds(config.mlp_bias):
            halves = ours.pop(f"{new}.mlp.gate_up.{kind}").detach().chunk(2)
            for name, part in zip(("gate_proj", "up_proj"), halves, strict=True):
                out[f"{old}.mlp.{name}.{kind}"] = part
            out[f"{old}.mlp.down_proj.{kind}"] = ours.pop(f"{new}.mlp.down.{kind}")
    return _all_named(out, ours)


def gpt2_tensors(model: Decoder, stored: frozenset[str]) -> dict[str, Tensor]:
    """Return the target of each tensor of a GPT-2 checkpoint.

    stored: the checkpoint's keys; the oldest files omit the prefix "transformer.". GPT-2 stores its matrices as input
    by output (transformers' Conv1D), so their targets are transposed views.
    """
    prefix = "transformer." if any(key.startswith("transformer.") for key in stored) else ""
    ours: dict[str, Tensor] = dict(model.named_parameters())
    out = {
        f"{prefix}wte.weight": ours.pop("embedding.weight"),
        f"{prefix}wpe.weight": ours.pop("positions.weight"),
        f"{prefix}ln_f.weight": ours.pop("final_norm.weight"),
        f"{prefix}ln_f.bias": ours.pop("final_norm.bias"),
    }
    if not model.config.tied_head:
        out[HEAD] = ours.pop("head.weight")
    for layer in range(model.config.num_layers):
        old, new = f"{prefix}h.{layer}", f"blocks.{layer}"
        for theirs, name in (("ln_1", "attention_norm"), ("ln_2", "mlp_norm")):
            for kind in ("weight", "bias"):
                out[f"{old}.{theirs}.{kind}"] = ours.pop(f"{new}.{name}.{kind}")
        for theirs, name in (
            ("attn.c_attn", "attention.qkv"),
            ("attn.c_proj", "attention.out"),
            ("mlp.c_fc", "mlp.up"),
            ("mlp.c_proj", "mlp.down"),
        ):
            out[f"{old}.{theirs}.weight"] = ours.pop(f"{new}.{name}.weight").detach().t()
            out[f"{old}.{theirs}.bias"] = ours.pop(f"{new}.{name}.bias")
    return _all_named(out, ours)


def _kinds(bias: bool) -> tuple[str, ...]:
    return ("weight", "bias") if bias else ("weight",)


def _all_named(out: dict[str, Tensor], left: dict[str, Tensor]) -> dict[str, Tensor]:
    if left:  # a parameter without a tensor would remain uninitialised memory
        raise AssertionError(f"parameters that no tensor of a checkpoint fills: {', '.join(left)}")
    return out
