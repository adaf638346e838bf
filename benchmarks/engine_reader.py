"""The embedded prefix decoder with a prompt of 384 tokens and 32 new ones: python -m benchmarks.engine_reader.

The peer is a loop without a cache, the only other implementation. One sample and five samples are measured, with random
weights of the reader's shape. Time is bound by the matrix products of one pass over 384 rows and 31 steps. The last
line is JSON.
"""

from __future__ import annotations

import torch

from benchmarks.engine_peers import arguments, case, finish, interleaved, products_seconds, random_prompt
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory, copyable_tokens
from model.decoder.packing import pack
from model.reader.prefix_decoder import FIRST_COPYABLE_ID, NULL_ID, warm_start


def main() -> None:
    given = arguments("the embedded prefix decoder")
    length, new = (48, 4) if given.tiny else (384, 32)
    model = warm_start(0).eval().requires_grad_(False)
    pack(model)
    cases = []
    for samples in (1, 5):
        engine = Engine(model, EngineOptions(memory_bytes=1 << 29, cache_bytes=0, invariant=True))

        def ours(repeat: int, samples: int = samples, engine: Engine = engine) -> object:
            # Greedy: the requested number of equal answers, each decoded.
            request = EngineRequest(
                random_prompt(length, model.config.vocab_size, repeat),
                SamplingParams(max_tokens=new),
                tuple(range(samples)),
                first_copyable_id=FIRST_COPYABLE_ID,
                null_id=NULL_ID,
            )
            return engine.run([request])

        def peer(repeat: int, samples: int = samples) -> None:
            prompt = random_prompt(length, model.config.vocab_size, repeat)
            for _ in range(samples):
                uncached(model, prompt, new)

        ours(10**6)
        mine, theirs = interleaved(ours, peer, given.repeats)
        floor = products_seconds(model, length, head_rows=1) + (new - 1) * products_seconds(model, samples)
        # Target: an answer with the cache takes at most a quarter of the time.
        cases.append(case(f"reader, {samples} samples", mine, theirs, floor, 4.0, given.repeats))
    finish("engine_reader", cases)


def uncached(model: Decoder, prompt: tuple[int, ...], new: int) -> list[int]:
    """Return a greedy answer, recomputing everything for each token."""
    answer: list[int] = []
    with torch.inference_mode():
        while len(answer) < new:
            ids = torch.tensor([[*prompt, *answer]])
            total, count = ids.shape[1], len(prompt)
            mask = torch.ones(total, total, dtype=torch.bool).tril()
            mask[:count, :count] = True
            hidden = model(ids, mask=mask, prompt_lengths=torch.tensor([count]))
            answer_ids = torch.tensor([[*answer, 0]])
            copyable = copyable_tokens(ids[:, :count], FIRST_COPYABLE_ID, NULL_ID)
            memory = HeadMemory(hidden[:, :count], ids[:, :count], copyable, answer_ids)
            answer.append(int(model.next_token(hidden[:, -1], memory).logprobs.argmax()))
    return answer


if __name__ == "__main__":
    main()
