"""Configuration of a decoder: its shapes and options, validated on construction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from model.decoder.rope_scaling import RopeScaling
from model.errors import ModelError


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Settings of a decoder.

    Symbols: V vocab_size, E hidden_size, L num_layers, H num_heads, Hkv num_kv_heads, D head_dim, F intermediate_size,
    Delta max_positions.

    norm_position: "pre" normalises before each sublayer and once at the end (Llama), "post" after each residual sum
    (BERT). activation: "gelu_tanh" is the tanh approximation of GELU (GPT-2). embedding_norm: whether the summed
    embeddings are normalised. prefix: whether attention is bidirectional inside the prompt and causal after it. head:
    "pointer" mixes the vocabulary softmax with copying from the prompt (See et al. 2017).

    mark_separator: id of the token that ends the question in a prompt; exact-match marks (model/decoder/marks.py) are
    then added to the embeddings. None turns them off. first_ordinary_id: first token id that is not special. follow:
    longest copied span, in tokens, whose continuation the pointer head favours; 0 turns this off. decline: hidden units
    of the network that corrects the probability of declining (model/decoder/decline_head.py); 0 for no such network.

    rope: scaling of rotary frequencies; None for no scaling. qk_norm: whether queries and keys of each head are
    RMS-normed before they are rotated (Qwen3). windows: for each layer the number of positions that it reads, including
    the token's own, or None for all; () for no windows. unrotated: layers without rotary positions (SmolLM3).

    Raises ModelError, naming the value, if a setting is invalid.
    """

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    max_positions: int
    norm: Literal["rms", "layer"] = "rms"
    norm_position: Literal["pre", "post"] = "pre"
    norm_eps: float = 1e-6
    positions: Literal["rotary", "learned"] = "rotary"
    rope_theta: float = 10000.0
    activation: Literal["swiglu", "gelu", "gelu_tanh"] = "swiglu"
    attention_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    tied_head: bool = False
    embedding_norm: bool = False
    prefix: bool = False
    head: Literal["linear", "pointer"] = "linear"
    mark_separator: int | None = None
    first_ordinary_id: int = 0
    follow: int = 0
    decline: int = 0
    rope: RopeScaling | None = None
    qk_norm: bool = False
    windows: tuple[int | None, ...] = ()
    unrotated: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("vocab_size", "hidden_size", "num_layers", "num_heads", "num_kv_heads", "head_dim"):
            if getattr(self, name) < 1:
                raise ModelError(f"decoder config: {name} is {getattr(self, name)}, it must be at least 1")
        for name in ("intermediate_size", "max_positions"):
            if getattr(self, name) < 1:
                raise ModelError(f"decoder config: {name} is {getattr(self, name)}, it must be at least 1")
        if self.num_heads % self.num_kv_heads:
            raise ModelError(
                f"decoder config: {self.num_heads} query heads cannot share {self.num_kv_heads} key/value heads evenly"
            )
        if self.positions == "rotary" and self.head_dim % 2:
            raise ModelError(f"decoder config: rotary positions need an even head_dim, not {self.head_dim}")
        for name in ("norm_eps", "rope_theta"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ModelError(f"decoder config: {name} is {value}, it must be a positive number")
        if self.head == "pointer" and not (self.tied_head and self.prefix):
            raise ModelError("decoder config: the pointer head needs a tied head and a prefix decoder")
        if self.follow < 0 or (self.follow and self.head != "pointer"):
            raise ModelError(f"decoder config: follow is {self.follow}: it needs the pointer head, and at least 0")
        if self.decline < 0 or (self.decline and self.head != "pointer"):
            raise ModelError(f"decoder config: decline is {self.decline}: it needs the pointer head, and at least 0")
        if self.mark_separator is not None and not self.prefix:
            raise ModelError("decoder config: exact-match marks need a prefix decoder")
        self._check_layers()

    def _check_layers(self) -> None:
        if self.windows and len(self.windows) != self.num_layers:
            raise ModelError(f"decoder config: {len(self.windows)} windows for {self.num_layers} layers")
        if any(window is not None and window < 1 for window in self.windows):
            raise ModelError(f"decoder config: windows are {self.windows}, each must be at least 1 or None")
        if self.prefix and any(self.windows):
            raise ModelError("decoder config: a prefix decoder reads its full prompt, it cannot have windows")
        if self.positions != "rotary" and (self.rope is not None or self.unrotated):
            raise ModelError("decoder config: rope and unrotated need rotary positions")
        if not set(self.unrotated) <= set(range(self.num_layers)):
            raise ModelError(f"decoder config: unrotated names layers {self.unrotated} of {self.num_layers}")

    def window(self, layer: int) -> int | None:
        """Return the number of positions that a layer reads, including the token's own; None for all."""
        return self.windows[layer] if self.windows else None
