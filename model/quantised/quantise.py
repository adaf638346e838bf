"""Quantise a decoder to groups of 4 or 8 bits, from the blocks of a file or by rounding."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import torch

from model.decoder.blocks import Block, SwiGLU
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.heads import LinearHead
from model.errors import ModelError
from model.quantised.groups import GROUP, GroupedMatrix, check_columns, rounded

HEAD = "head"
"""Name of the head's matrix."""


@cache
def has_kernels() -> bool:
    """Return whether the compiled kernels are available."""
    try:
        import model.quantised.step_kernel  # noqa: F401 - imported here because numba is slow to import
    except ImportError:  # numba lags behind new versions of Python and numpy
        return False
    return True


def unsupported(config: DecoderConfig) -> str:
    """Return why quantised steps do not support a decoder of this kind; "" if they do."""
    required = {
        "norm": ("rms", config.norm),
        "norm_position": ("pre", config.norm_position),
        "positions": ("rotary", config.positions),
        "activation": ("swiglu", config.activation),
        "head": ("linear", config.head),
    }
    for name, (only, found) in required.items():
        if found != only:
            return f"{name} is {found!r}, not {only!r}"
    if config.prefix or config.embedding_norm:
        return "it is a prefix decoder" if config.prefix else "it has a norm over its embeddings"
    if config.head_dim % 4:
        return f"head_dim is {config.head_dim}, which is not a multiple of 4"
    return ""


def matrix_shapes(config: DecoderConfig) -> dict[str, tuple[int, int]]:
    """Return the shape (O, I) of each matrix that is stored in groups, by name."""
    width, inner = config.hidden_size, config.intermediate_size
    heads = config.num_heads * config.head_dim
    block = {
        "attention.qkv": (heads + 2 * config.num_kv_heads * config.head_dim, width),
        "attention.out": (width, heads),
        "mlp.gate": (inner, width),
        "mlp.up": (inner, width),
        "mlp.down": (width, inner),
    }
    layers = range(config.num_layers)
    return {f"blocks.{layer}.{name}": shape for layer in layers for name, shape in block.items()} | {
        HEAD: (config.vocab_size, width)
    }


def odd_columns(config: DecoderConfig) -> str:
    """Return the first matrix, with its shape, whose columns cannot be split into groups of 32; "" if there is none."""
    odd = ((name, shape) for name, shape in matrix_shapes(config).items() if shape[1] % GROUP)
    return next((f"{name} {shape}" for name, shape in odd), "")


def quantise(model: Decoder, bits: int, stored: Mapping[str, GroupedMatrix] | None = None) -> None:
    """Quantise an unpacked decoder on a CPU in place: its blocks to at most ``bits`` bits, its head to 8 bits.

    bits: 4 or 8. stored: matrices from a file, by the names of ``matrix_shapes``; those with at most the requested bits
    are used unchanged. Others are rounded, and the model's own weights are replaced by the rounded ones, so that
    prompts and steps use the same weights. Raises ModelError, with the model unchanged, for an unsupported decoder, a
    matrix whose columns are not a multiple of 32, or a number that is not finite.
    """
    if bits not in (4, 8):
        raise ModelError(f"weights of {bits} bits are not supported: use 4 or 8")
    if model.device.type != "cpu" or not has_kernels():
        raise ModelError(f"weights of {bits} bits in groups are for CPUs on which numba works: use bf16 or fp32")
    if reason := unsupported(model.config):
        raise ModelError(f"weights of {bits} bits in groups are not supported for this decoder: {reason}")
    plain = _plain(model)
    for name, weight in plain.items():
        check_columns(weight, name)
    matrices = {}
    for name, weight in plain.items():
        most = 8 if name == HEAD else bits
        known = None if stored is None else stored.get(name)
        matrices[name] = known if known is not None and known.bits <= most else rounded(weight, most, name)
    for name, weight in plain.items():
        if stored is None or matrices[name] is not stored.get(name):
            weight.copy_(matrices[name].dequantised())
    from model.quantised.step import QuantisedHead, QuantisedStep

    model.row_steps, model.head.packed = QuantisedStep(model, matrices), QuantisedHead(matrices[HEAD])


def _plain(model: Decoder) -> dict[str, torch.Tensor]:
    """Return the matrices of a decoder by name, as views of its weights."""
    out: dict[str, torch.Tensor] = {}
    for layer, block in enumerate(model.blocks):
        if not (isinstance(block, Block) and isinstance(block.mlp, SwiGLU)):
            raise ModelError(f"block {layer} of the decoder has no SwiGLU: its weights have no groups")
        gate, up = block.mlp.gate_up.weight.detach().chunk(2)
        parts = {
            "attention.qkv": block.attention.qkv.weight.detach(),
            "attention.out": block.attention.out.weight.detach(),
            "mlp.gate": gate,
            "mlp.up": up,
            "mlp.down": block.mlp.down.weight.detach(),
        }
        out |= {f"blocks.{layer}.{name}": weight for name, weight in parts.items()}
    own = model.head.weight if isinstance(model.head, LinearHead) else None
    out[HEAD] = (model.embedding.weight if own is None else own).detach()
    return out
