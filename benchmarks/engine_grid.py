"""A question of an evaluation with a decoding grid: python -m benchmarks.engine_grid.

The prompt has 1,024 tokens, and 3 temperatures x 5 samples get 64 new tokens each. The peer is
generate(num_return_sequences=5) for each temperature, with the same random weights of a 135M Llama. Then the engine
alone runs 20 such questions, for the time per question in a run. Time is bound by one prefill and 63 steps of matrix
products at 15 rows. The last line is JSON.
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
    seconds,
)
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.hardware.device import bf16_pays

TEMPERATURES, SAMPLES = (0.3, 0.7, 1.0), 5


def main() -> None:
    given = arguments("the evaluation's grid")
    shape, length, new, questions = (TINY, 64, 8, 3) if given.tiny else (SMOL_135M, 1024, 64, 20)
    dtype = torch.bfloat16 if bf16_pays(torch.device("cpu")) else torch.float32
    pair = random_pair(shape, dtype)
    rows = len(TEMPERATURES) * SAMPLES
    floor = products_seconds(pair.ours, length, head_rows=1) + (new - 1) * products_seconds(pair.ours, rows)
    name = str(dtype).removeprefix("torch.")
    cases, more = [], {}
    for invariant in (False, True):
        # The context is long enough for the prompt to be one chunk; the invariant mode has its own chunks.
        engine = Engine(pair.ours, EngineOptions(cache_bytes=0, prefill_tokens=length, invariant=invariant))
        mode = "invariant" if invariant else "default"
        if not invariant:
            ours, peer = times(pair, engine, length, new, given.repeats)
            cases.append(case(f"grid {name}", ours, peer, floor, 8.0, given.repeats))
        run = seconds(lambda: engine.run([r for q in range(questions) for r in grid(length, new, shape.vocabulary, q)]))  # noqa: B023
        print(f"{questions} questions, {mode} mode: {run / questions:.3f} s each", flush=True)
        more[f"seconds_per_question_{mode}"] = round(run / questions, 4)
    finish("engine_grid", cases, **more)


def grid(length: int, new: int, vocabulary: int, seed: int) -> list[EngineRequest]:
    """Return the requests of one question."""
    prompt = random_prompt(length, vocabulary, seed)
    seeds = tuple(range(SAMPLES))
    return [EngineRequest(prompt, SamplingParams(temperature=t, max_tokens=new), seeds) for t in TEMPERATURES]


def times(pair: Pair, engine: Engine, length: int, new: int, repeats: int) -> tuple[float, float]:
    """Return the median seconds of a question, by the engine and by generate."""

    def ours(repeat: int) -> object:
        return engine.run(grid(length, new, pair.ours.config.vocab_size, repeat))

    def peer(repeat: int) -> None:
        ids = torch.tensor([random_prompt(length, pair.ours.config.vocab_size, repeat)])
        with torch.inference_mode():
            for temperature in TEMPERATURES:
                pair.peer.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    do_sample=True,
                    temperature=temperature,
                    top_k=0,
                    num_return_sequences=SAMPLES,
                    max_new_tokens=new,
                    min_new_tokens=new,
                )

    ours(10**6)
    return interleaved(ours, peer, repeats)


if __name__ == "__main__":
    main()
