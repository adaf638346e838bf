"""Shapes of decoders that are trained from scratch, their initialisation, and the cost of a training token.

"full" has 23.6 million parameters, 47 MB in fp16:

- Vocabulary of 12,288 tokens. A smaller one needs more tokens per word; with 16,384 tokens the embedding would be a
  quarter of the model.
- Width 384 and 12 layers. Below a billion parameters depth is worth more than width (Liu et al. 2024, MobileLLM,
  section 3), but each layer adds latency on a CPU.
- 6 query heads of dimension 64 on 2 key/value heads (Ainslie et al. 2023), which divides the size of the cache by 3.
- SwiGLU of 1,024, 8/3 of the width (Shazeer 2020).

"small" has 1.6 million parameters, 3.3 MB in fp16. An hour on two cores can train it with 20 tokens per parameter
(Hoffmann et al. 2022, section 3). It is the shape of model/pretrained/decoder, which the engine's documentation and
tests use.

"tiny" has half a million parameters. It trains on a CPU in minutes, to test the whole process.
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
# Width, layers, query heads, key/value heads, and intermediate size of SwiGLU.
_SHAPES: dict[Size, tuple[int, int, int, int, int]] = {
    "tiny": (96, 3, 4, 2, 256),
    "small": (128, 6, 4, 2, 352),
    "full": (384, 12, 6, 2, 1024),
}
_STD = 0.02


def pretrain_config(size: Size, vocabulary: int, context: int) -> DecoderConfig:
    """Return the configuration of a size. vocabulary: number of tokens. context: number of positions.

    Raises ModelError for invalid numbers.
    """
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
    """Create a decoder with random weights that depend on ``seed`` only.

    Matrices are drawn from N(0, 0.02^2). Those that write into the residual stream are divided by sqrt(2 L), so that
    its variance does not grow with depth (Radford et al. 2019, section 2.3). Norms start at 1, biases at 0.
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
    """Return the number of parameters. A tied head counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def training_flops_per_token(config: DecoderConfig, context: int) -> float:
    """Return the floating-point operations of matrix products per trained token in windows of ``context`` tokens.

    The formula is 6 P + 6 L H D T (Chowdhery et al. 2022, PaLM, appendix B), with P the parameters of all products
    including the head. The attention term is half of theirs, because a causal model needs half of the scores.
    Recomputation, norms and rotary tables are not counted.
    """
    width, inner = config.hidden_size, config.intermediate_size
    query = config.num_heads * config.head_dim
    key_value = config.num_kv_heads * config.head_dim
    mlp = (3 if config.activation == "swiglu" else 2) * width * inner
    layer = width * (query + 2 * key_value) + query * width + mlp
    products = config.num_layers * layer + config.vocab_size * width
    return 6.0 * products + 6.0 * config.num_layers * query * context
