"""One request at a time, with a prompt of 512 tokens and 64 new ones, greedy: python -m benchmarks.engine_single.

The peer is transformers' generate with the same random weights of a 135M Llama, in fp32 and, if it is faster here, in
bf16. Then int8 weights are compared with generate in bf16 (or fp32), with their error in logits. Time is bound by the
matrix products: one pass over 512 rows and 63 over one. The last line is JSON.
"""

from __future__ import annotations

import torch

from benchmarks.engine_peers import (
    SMOL_135M,
    TINY,
    Pair,
    arguments,
    case,
    finish,
    interleaved,
    products_seconds,
    random_pair,
    random_prompt,
)
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.packing import pack
from model.engine_state.int8 import int8_weights, logit_loss
from model.hardware.device import bf16_pays


def main() -> None:
    given = arguments("one request at a time")
    shape, length, new = (TINY, 32, 8) if given.tiny else (SMOL_135M, 512, 64)
    dtypes = [torch.float32] + ([torch.bfloat16] if bf16_pays(torch.device("cpu")) else [])
    targets = {torch.float32: 1.15, torch.bfloat16: 1.4}
    cases = []
    loss = None
    for dtype in dtypes:
        pair = random_pair(shape, dtype, packed=False)
        quantised = int8_weights(pair.ours) if dtype is dtypes[-1] else None
        if quantised is not None:
            sample = torch.tensor([random_prompt(length, shape.vocabulary, 999)])
            loss = logit_loss(pair.ours, quantised, sample)
            print(f"int8 weights: {loss}")
            pack(quantised)
        pack(pair.ours)
        name = str(dtype).removeprefix("torch.")
        ours, peer = times(pair, length, new, given.repeats)
        floor = products_seconds(pair.ours, length, head_rows=1) + (new - 1) * products_seconds(pair.ours, 1)
        cases.append(case(f"single {name}", ours, peer, floor, targets[dtype], given.repeats))
        if quantised is not None:
            ours, peer = times(Pair(quantised, pair.peer), length, new, given.repeats)
            cases.append(case(f"single int8 against {name}", ours, peer, floor, targets[dtype], given.repeats))
    finish("engine_single", cases, int8_loss=None if loss is None else loss.as_dict())


def times(pair: Pair, length: int, new: int, repeats: int) -> tuple[float, float]:
    """Return the median seconds of the engine and of generate. Every repeat has a new prompt, so that no cache
    helps.
    """
    engine = Engine(pair.ours, EngineOptions(cache_bytes=0))
    vocabulary = pair.ours.config.vocab_size

    def ours(repeat: int) -> int:
        request = EngineRequest(random_prompt(length, vocabulary, repeat), SamplingParams(max_tokens=new), (0,))
        (result,) = engine.run([request])
        return len(result.samples[0].token_ids)

    def peer(repeat: int) -> torch.Tensor:
        ids = torch.tensor([random_prompt(length, vocabulary, repeat)])
        with torch.inference_mode():
            out: torch.Tensor = pair.peer.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, min_new_tokens=new, do_sample=False
            )
        return out

    ours(10**6), peer(10**6)  # warm
    return interleaved(ours, peer, repeats)


if __name__ == "__main__":
    main()
