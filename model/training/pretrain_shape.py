"""Shapes of a decoder trained from scratch, its initialisation, and the cost of a training token.

"full" has 23.6 million parameters, so that in fp16 it is 47 MB and can be shipped:

- vocabulary 12,288: with a tied head every 1,000 tokens cost 0.39M parameters, a quarter of a layer. At 8,192 English
  takes more tokens a word, and context and time with it; at 16,384 the embedding is a quarter of the model.
- 384 wide, 12 deep: below a billion parameters depth is worth more than width (Liu et al. 2024, MobileLLM, section 3),
  but each layer adds latency on the CPUs this is meant for.
- 6 query heads of 64 on 2 key/value heads (Ainslie et al. 2023): the cache of 2,048 positions is a third of its size.
- SwiGLU of 1,024, 8/3 of the width (Shazeer 2020).

"small" has 1.6 million, 3.3 MB in fp16: about what an hour on two cores can train with 20 tokens a parameter (Hoffmann
et al. 2022, section 3), and the shape of the checkpoint that the engine's documentation and tests use
(model/pretrained/decoder). A third of it is the embedding of 4,096 tokens.

"tiny" has half a million: it shows on a CPU, in minutes, that everything works.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import nn

from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder

Size = Literal["tiny", "small", "full"]
VOCABULARY: dict[Size, int] = {"tiny": 2048, "small": 4096, "full": 12288}
CONTEXT: dict[Size, int] = {"tiny": 256, "small": 1024, "full": 2048}
# Width, layers, query heads, key/value heads, and what is inside SwiGLU.
_SHAPES: dict[Size, tuple[int, int, int, int, int]] = {
    "tiny": (96, 3, 4, 2, 256),
    "small": (128, 6, 4, 2, 352),
    "full": (384, 12, 6, 2, 1024),
}
_STD = 0.02


def pretrain_config(size: Size, vocabulary: int, context: int) -> DecoderConfig:
    """The Llama shape called ``size``, for so many tokens and positions. Raises ModelError for impossible numbers."""
    width, layers, heads, kv_heads, inner = _SHAPES[size]
    return DecoderConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=width // heads,
        intermediate_size=inner,
        max_positions=context,
        norm_eps=1e-5,
        tied_head=True,
    )


def new_decoder(config: DecoderConfig, seed: int) -> Decoder:
    """A decoder with random weights, the same on every machine for one seed.

    Matrices ~ N(0, 0.02^2); those that write into the residual stream are divided by sqrt(2 L), so that its variance
    does not grow with depth (Radford et al. 2019, section 2.3). Norms start at 1, biases at 0.
    """
    with torch.random.fork_rng(devices=[]):  # the constructors' initial values are overwritten
        model = Decoder(config)
    random = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.ndim > 1:
            last = name.endswith(("attention.out.weight", "mlp.down.weight"))
            std = _STD / math.sqrt(2 * config.num_layers) if last else _STD
            nn.init.normal_(parameter, std=std, generator=random)
    return model


def parameter_count(model: nn.Module) -> int:
    """Number of learned parameters; a tied head counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def training_flops_per_token(config: DecoderConfig, context: int) -> float:
    """Floating-point operations of matrix products for one trained token in windows of ``context``.

    6 P + 6 L H D T: Chowdhery et al. 2022 (PaLM), appendix B, with P the parameters of all products, the head's
    included, and half of their attention term, since a causal model needs half of the scores. Recomputation, norms and
    rotary tables are not counted.
    """
    width, inner = config.hidden_size, config.intermediate_size
    query = config.num_heads * config.head_dim
    key_value = config.num_kv_heads * config.head_dim
    mlp = (3 if config.activation == "swiglu" else 2) * width * inner
    layer = width * (query + 2 * key_value) + query * width + mlp
    products = config.num_layers * layer + config.vocab_size * width
    return 6.0 * products + 6.0 * config.num_layers * query * context
