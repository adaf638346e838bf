"""Identify the family of a config.json, convert it to a DecoderConfig, and name the tensors of its checkpoint.

Unsupported features are refused, never skipped. A checkpoint that loads computes the same numbers as in transformers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from model.architectures.fields import Fields, refuse
from model.architectures.gpt2 import gpt2_config
from model.architectures.llama import llama_config
from model.architectures.mistral import mistral_config
from model.architectures.qwen import qwen2_config, qwen3_config
from model.architectures.smollm3 import smollm3_config
from model.architectures.tensor_names import gpt2_tensors, llama_tensors
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder

# Old files store tables that Plumbline computes: rotary frequencies and GPT-2's causal masks.
_UNUSED = re.compile(
    r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq|(transformer\.)?h\.\d+\.attn\.(masked_)?bias"
)


@dataclass(frozen=True, slots=True)
class Family:
    """A supported model family.

    name: model_type in config.json. architecture: the transformers class that loads it. read_config: converts a
    config.json. tensors: given a decoder and the checkpoint's keys, maps each tensor that the checkpoint must have to
    the decoder parameter that it fills.
    """

    name: str
    architecture: str
    read_config: Callable[[Fields], DecoderConfig]
    tensors: Callable[[Decoder, frozenset[str]], dict[str, Tensor]]


_FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("llama", "LlamaForCausalLM", llama_config, llama_tensors),
        Family("mistral", "MistralForCausalLM", mistral_config, llama_tensors),
        Family("qwen2", "Qwen2ForCausalLM", qwen2_config, llama_tensors),
        Family("qwen3", "Qwen3ForCausalLM", qwen3_config, llama_tensors),
        Family("smollm3", "SmolLM3ForCausalLM", smollm3_config, llama_tensors),
        Family("gpt2", "GPT2LMHeadModel", gpt2_config, gpt2_tensors),
    )
}


def family_of(config_json: Mapping[str, object]) -> Family:
    """Return the family of a config.json.

    Raises ModelError, naming model_type or architectures, if it is not supported.
    """
    name = config_json.get("model_type")
    family = _FAMILIES.get(name) if isinstance(name, str) else None
    if family is None:
        refuse("model_type", name, f"only {', '.join(map(repr, _FAMILIES))} are supported")
    architectures = config_json.get("architectures")
    if architectures is not None and architectures != [family.architecture]:
        refuse("architectures", architectures, f"only [{family.architecture!r}] is supported")
    return family


def decoder_config(config_json: Mapping[str, object]) -> DecoderConfig:
    """Return the DecoderConfig of a config.json. Absent optional fields have transformers' defaults.

    Raises ModelError, naming the field and its value, if one is missing, of the wrong type or not supported.
    """
    return family_of(config_json).read_config(Fields(config_json))


def unused_keys(stored: frozenset[str]) -> frozenset[str]:
    """Return the stored keys that are not needed."""
    return frozenset(key for key in stored if _UNUSED.fullmatch(key))
