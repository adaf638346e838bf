"""Shared parts of the engine benchmarks: a random Llama with the same weights in both libraries, floors, and the last
line.

A floor is the time of the matrix products alone, measured in the same run; no engine can be faster. A ratio is the
peer's time divided by ours. Its limit is the peer's time divided by the floor.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from model.architectures.families import decoder_config, family_of
from model.decoder.decoder import Decoder
from model.decoder.heads import PointerHead
from model.decoder.packing import PackedLinear, pack
from model.hardware.freed_memory import keep_freed_memory


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of a Llama."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int
    positions: int = 2048


SMOL_135M = Shape(30, 576, 9, 3, 1536, 49152)
TINY = Shape(2, 48, 3, 1, 96, 512)


@dataclass(frozen=True, slots=True)
class Case:
    """A comparison. ours, peer, floor: median seconds. ratio: peer / ours. limit: peer / floor. share_of_limit: floor /
    ours.
    """

    name: str
    ours: float
    peer: float
    floor: float
    ratio: float
    target: float
    limit: float
    share_of_limit: float
    repeats: int


@dataclass(frozen=True, slots=True)
class Pair:
    """The same random weights in both libraries."""

    ours: Decoder
    peer: Any


def arguments(about: str, *, sizes: bool = False) -> argparse.Namespace:
    """Parse --tiny, --repeats and --threads. sizes: whether to add --sizes, the sizes of the peer's static batches."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--tiny", action="store_true", help="a tiny model and little work, as a smoke test")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    if sizes:
        parser.add_argument(
            "--sizes",
            type=lambda text: [int(size) for size in text.split(",")],
            default=[4, 8, 16, 32],
            help="static batches to try, the best of which is the peer (default 4,8,16,32)",
        )
    given = parser.parse_args()
    if given.repeats < 1:
        parser.error("--repeats must be at least 1")
    if given.threads:
        torch.set_num_threads(given.threads)
    keep_freed_memory()
    return given


def random_pair(shape: Shape, dtype: torch.dtype, seed: int = 0, *, packed: bool = True) -> Pair:
    """Return a random Llama, initialised by transformers, and a Decoder with copies of its weights.

    packed: whether the decoder's weights are packed, as the generators pack them.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.positions,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=0,
    )
    peer = LlamaForCausalLM(config).eval().requires_grad_(False)
    described = {**config.to_dict(), "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
    ours = Decoder(decoder_config(described)).eval().requires_grad_(False)
    state = {key: tensor for key, tensor in peer.state_dict().items() if key != "lm_head.weight"}
    for key, target in family_of(described).tensors(ours, frozenset(state)).items():
        target.copy_(state[key])
    rotary = ours.rotary
    ours.to(dtype)
    ours.rotary = rotary.float() if rotary is not None else None  # angles stay in fp32, as when a checkpoint is loaded
    if packed:
        pack(ours)
    return Pair(ours, peer.to(dtype))


def products_seconds(model: Decoder, rows: int, *, head_rows: int | None = None, tries: int = 5) -> float:
    """Return the minimum time of all matrix products of the model for this number of rows, in the model's dtype."""
    layers = [module for module in model.blocks.modules() if isinstance(module, (nn.Linear, PackedLinear))]
    inputs = {m.in_features: torch.randn(rows, m.in_features).to(model.dtype) for m in layers}
    last = torch.randn(head_rows or rows, model.config.hidden_size).to(model.dtype)

    def once() -> None:
        for module in layers:
            module(inputs[module.in_features])
        # the output projection over the vocabulary, the largest of its products
        if isinstance(model.head, PointerHead):
            F.linear(last, model.embedding.weight) if model.head.packed is None else model.head.packed(last)
        else:
            model.logits(last)

    with torch.inference_mode():
        return min(seconds(once) for _ in range(tries))


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    started = perf_counter()
    work()
    return perf_counter() - started


def interleaved(ours: Callable[[int], object], peer: Callable[[int], object], repeats: int) -> tuple[float, float]:
    """Return the median seconds of both sides, run in alternating order. Each is called with the number of the
    repeat.
    """
    mine, theirs = [], []
    for repeat in range(repeats):
        for first in (True, False) if repeat % 2 == 0 else (False, True):
            if first:
                mine.append(seconds(lambda: ours(repeat)))  # noqa: B023
            else:
                theirs.append(seconds(lambda: peer(repeat)))  # noqa: B023
        print(f"  repeat {repeat}: ours {mine[-1]:.3f} s, peer {theirs[-1]:.3f} s", flush=True)
    return statistics.median(mine), statistics.median(theirs)


def case(name: str, ours: float, peer: float, floor: float, target: float, repeats: int) -> Case:
    """Return the figures of a comparison, and print them."""
    result = Case(
        name,
        round(ours, 4),
        round(peer, 4),
        round(floor, 4),
        round(peer / ours, 3),
        target,
        round(peer / floor, 3),
        round(floor / ours, 3),
        repeats,
    )
    print(
        f"{name}: ours {ours:.3f} s, peer {peer:.3f} s, floor {floor:.3f} s: {result.ratio:.2f} times "
        f"(target {target}, limit {result.limit:.2f}; {100 * result.share_of_limit:.0f} % of it)",
        flush=True,
    )
    return result


def finish(benchmark: str, cases: Sequence[Case], **more: object) -> None:
    """Print the last line: all cases, and the smallest quotient of a ratio and its target."""
    line = {
        "benchmark": benchmark,
        "threads": torch.get_num_threads(),
        "cases": [asdict(result) for result in cases],
        "ratio": round(min(result.ratio / result.target for result in cases), 3),
        **more,
    }
    print(json.dumps(line))


def random_prompt(length: int, vocabulary: int, seed: int) -> tuple[int, ...]:
    """Return random token ids without special tokens."""
    random = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(2, vocabulary, (length,), generator=random).tolist())
