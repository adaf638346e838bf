"""What the config.json of a Llama checkpoint means for DecoderConfig, field by field after transformers' LlamaConfig.

What this decoder does not do is refused, never skipped: a checkpoint that loads computes the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.config import DecoderConfig
from model.errors import ModelError


def llama_config(config_json: Mapping[str, object]) -> DecoderConfig:
    """The DecoderConfig of a Llama config.json; absent optional fields mean what they mean to transformers.

    Raises ModelError naming the field and its value when one is missing, of the wrong type or not supported.
    """
    fields = _Fields(config_json)
    fields.must_be("model_type", ("llama",), absent=None)
    architectures = config_json.get("architectures")
    if architectures is not None and architectures != ["LlamaForCausalLM"]:
        raise _refused("architectures", architectures, "only ['LlamaForCausalLM'] is supported")
    fields.must_be("hidden_act", ("silu", "swish"), absent="silu")
    fields.must_be("pretraining_tp", (1, None), absent=1)
    heads = fields.integer("num_attention_heads")
    hidden = fields.integer("hidden_size")
    if heads < 1:
        raise _refused("num_attention_heads", heads, "it must be at least 1")
    if config_json.get("head_dim") is None and hidden % heads:
        raise _refused(
            "hidden_size", hidden, f"without head_dim it must be a multiple of num_attention_heads ({heads})"
        )
    biased = fields.flag("attention_bias")
    return DecoderConfig(
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        num_layers=fields.integer("num_hidden_layers"),
        num_heads=heads,
        num_kv_heads=fields.integer("num_key_value_heads", heads),
        head_dim=fields.integer("head_dim", hidden // heads),
        intermediate_size=fields.integer("intermediate_size"),
        max_positions=fields.integer("max_position_embeddings", 2048),
        norm_eps=fields.number("rms_norm_eps", 1e-6),
        rope_theta=_rope_theta(fields),
        attention_bias=biased,
        output_bias=biased,
        mlp_bias=fields.flag("mlp_bias"),
        tied_head=fields.flag("tie_word_embeddings"),
    )


def _rope_theta(fields: _Fields) -> float:
    """The rotary base, from rope_parameters (transformers 5) or rope_theta and rope_scaling (before); unscaled only."""
    theta = fields.number("rope_theta", 10000.0)
    fields.must_be("partial_rotary_factor", (1, None), absent=1)
    for name in ("rope_scaling", "rope_parameters"):
        nested = fields.source.get(name)
        if nested is None:
            continue
        if not isinstance(nested, dict):
            raise _refused(name, nested, "it must be an object or null")
        inner = _Fields(nested, f"{name}.")
        inner.must_be("rope_type", ("default",), absent="default")
        inner.must_be("type", ("default",), absent="default")
        inner.must_be("partial_rotary_factor", (1, None), absent=1)
        theta = inner.number("rope_theta", theta)
    return theta


def _refused(field: str, value: object, rule: str) -> ModelError:
    return ModelError(f"{field} is {value!r}: {rule}")


class _Fields:
    """Typed reads of a parsed JSON object, whose errors name field and value. ``null`` is the same as absent."""

    def __init__(self, source: Mapping[str, object], prefix: str = "") -> None:
        self.source = source
        self.prefix = prefix

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number; required when there is no default."""
        value = self.source.get(name)
        if value is None:
            value = default
        if value is None:
            raise ModelError(f"{self.prefix}{name} is missing: a Llama config needs it")
        if isinstance(value, bool) or not isinstance(value, int):
            raise _refused(self.prefix + name, value, "it must be a whole number")
        return value

    def number(self, name: str, default: float) -> float:
        """A number."""
        value = self.source.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _refused(self.prefix + name, value, "it must be a number")
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false; false when absent."""
        value = self.source.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise _refused(self.prefix + name, value, "it must be true or false")
        return value

    def must_be(self, name: str, allowed: tuple[object, ...], absent: object) -> None:
        """Refuse a value that is not one of ``allowed``; an absent field counts as ``absent``."""
        value = self.source.get(name, absent)
        if value not in allowed:
            rule = " or ".join(repr(item) for item in allowed if item is not None)
            raise _refused(self.prefix + name, value, f"only {rule} is supported")
