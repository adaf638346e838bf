"""64 concurrent requests of mixed length: python -m benchmarks.engine_batch.

Prompts have 32 to 512 tokens, answers 16 to 128; decoding is greedy. Both sides use a 135M Llama with the same random
weights. The peers are from transformers: generate on static batches, and generate_batch (continuous batching). Static
batches are sorted by length, left-padded, and run until their longest answer is complete; the best of several batch
sizes counts. Time is bound by matrix products: one pass over every prompt token, and steps over all unfinished rows.
The last line is JSON.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

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
    seconds,
)
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.hardware.device import bf16_pays

if TYPE_CHECKING:
    from transformers.generation.continuous_batching import ContinuousBatchingManager

PREFILL_TOKENS = 2048
_PAGE = 256
Work = tuple[tuple[int, ...], int]


def main() -> None:
    given = arguments("64 requests of mixed length", sizes=True)
    shape, count = (TINY, 8) if given.tiny else (SMOL_135M, 64)
    dtype = torch.bfloat16 if bf16_pays(torch.device("cpu")) else torch.float32
    pair = random_pair(shape, dtype)
    work = mixed(count, shape.vocabulary, given.tiny)
    # Time to first token does not matter here, so prompts are prefilled in large chunks. Steps soon have many rows.
    engine = Engine(pair.ours, EngineOptions(cache_bytes=0, max_rows=count, prefill_tokens=PREFILL_TOKENS))
    floor = products_floor(pair, [new for _, new in work], sum(len(prompt) for prompt, _ in work))

    def ours(_: int) -> object:
        return engine.run([EngineRequest(prompt, SamplingParams(max_tokens=new), (0,)) for prompt, new in work])

    ours(0)
    sizes = [size for size in given.sizes if size <= count]
    tried = {size: seconds(lambda: static(pair, work, size)) for size in sizes}  # noqa: B023
    best = min(tried, key=tried.__getitem__)
    print(
        f"static batches: {', '.join(f'{size}: {spent:.2f} s' for size, spent in tried.items())}; best {best}",
        flush=True,
    )
    mine, theirs = interleaved(ours, lambda _: static(pair, work, best), given.repeats)
    cases = [case("64 mixed, static batches", mine, theirs, floor, 2.0, given.repeats)]
    if has_psutil():
        with transformers_batching(pair, work) as manager:
            continuous(manager, work[:2])
            mine, theirs = interleaved(ours, lambda _: continuous(manager, work), given.repeats)
        cases.append(case("64 mixed, generate_batch", mine, theirs, floor, 1.0, given.repeats))
    else:
        print("generate_batch is skipped: it needs psutil, which is not installed")
    finish("engine_batch", cases, static_batch=best)


def mixed(count: int, vocabulary: int, tiny: bool) -> list[Work]:
    """Return the prompt and the number of new tokens of every request."""
    rng = random.Random(0)
    longest, most = (64, 12) if tiny else (512, 128)
    return [
        (random_prompt(rng.randint(longest // 16, longest), vocabulary, number), rng.randint(most // 8, most))
        for number in range(count)
    ]


def products_floor(pair: Pair, new: Sequence[int], prompt_tokens: int) -> float:
    """Return the time of the matrix products: passes of 512 prompt tokens, and a step for every number of unfinished
    rows.
    """
    passes = -(-prompt_tokens // 512)
    total = passes * products_seconds(pair.ours, min(512, prompt_tokens), head_rows=1, tries=2)
    steps = Counter(sum(left > step for left in new) for step in range(1, max(new)))
    measured: dict[int, float] = {}
    for rows, times in steps.items():
        rounded = rows if rows < 8 else rows // 8 * 8  # round down, so that it is a lower bound
        if rounded not in measured:
            measured[rounded] = products_seconds(pair.ours, rounded, tries=3)
        total += times * measured[rounded]
    return total


def static(pair: Pair, work: Sequence[Work], size: int) -> None:
    """Call generate on batches of requests with similar lengths, each until its longest answer is complete."""
    ordered = sorted(work, key=lambda request: (request[1], len(request[0])))
    for begin in range(0, len(ordered), size):
        batch = ordered[begin : begin + size]
        longest = max(len(prompt) for prompt, _ in batch)
        ids = torch.tensor([(0,) * (longest - len(prompt)) + prompt for prompt, _ in batch])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt, _ in batch])
        most = max(new for _, new in batch)
        with torch.inference_mode():
            pair.peer.generate(ids, attention_mask=mask, max_new_tokens=most, min_new_tokens=most, do_sample=False)


def transformers_batching(pair: Pair, work: Sequence[Work]) -> AbstractContextManager[ContinuousBatchingManager]:
    """Start transformers' continuous batching once, so that its cache is not allocated for every repeat.

    A pass has as many tokens as the engine may prefill, and the cache holds all requests (by default it takes most of
    the memory). It disables gradients itself; in inference mode every request would fail.
    """
    from transformers import ContinuousBatchingConfig, GenerationConfig

    most = max(new for _, new in work)
    pages = sum(-(-(len(prompt) + most) // _PAGE) for prompt, _ in work)
    manager: AbstractContextManager[ContinuousBatchingManager] = pair.peer.continuous_batching_context_manager(
        generation_config=GenerationConfig(max_new_tokens=most, do_sample=False, eos_token_id=-1),
        continuous_batching_config=ContinuousBatchingConfig(
            page_size=_PAGE, num_blocks=pages, max_batch_tokens=PREFILL_TOKENS
        ),
        block=True,
        timeout=5,
    )
    return manager


def continuous(manager: ContinuousBatchingManager, work: Sequence[Work]) -> None:
    """Run all requests, each with its own number of new tokens. Raises RuntimeError if one fails or is too short."""
    pending = {manager.add_request(list(prompt), max_new_tokens=new): new for prompt, new in work}
    while pending:
        result = manager.get_result(timeout=600)
        if result is None:
            raise RuntimeError("generate_batch gave no result within ten minutes")
        if not result.is_finished():
            continue
        new = pending.pop(result.request_id)
        if result.error is not None or len(result.generated_tokens) != new:
            raise RuntimeError(f"generate_batch gave {len(result.generated_tokens)} of {new} tokens: {result.error}")


def has_psutil() -> bool:
    try:
        import psutil  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
