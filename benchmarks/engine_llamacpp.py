"""The engine compared with llama.cpp on one GGUF file: python -m benchmarks.engine_llamacpp.

Both run interleaved in one process, with greedy decoding of one sequence (prompt of 512 tokens, 64 new ones) and with
15 samples of one prompt (1,024 tokens, 64 new ones each). It needs llama-cpp-python, which the project does not depend
on and which pip compiles (``pip install llama-cpp-python``). The limit for a token of one sequence is the time to read
its weights from memory, at a bandwidth measured in the same run. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

import torch

from benchmarks.engine_peers import random_prompt
from benchmarks.llamacpp_peer import LlamaCpp, Seconds, Watch
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.loading import load_for_engine
from generation.engine.options import EngineOptions
from generation.engine.precision import weight_precision
from generation.engine.requests import EngineRequest
from model.checkpoints.gguf.files import open_gguf
from model.checkpoints.loading import load_decoder
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.decode_state import DecodeState
from model.engine_state.int8 import logit_loss_between
from model.engine_state.reads import RowGroup
from model.hardware.freed_memory import keep_freed_memory
from model.quantised.step import QuantisedStep

_NEW, _SAMPLES = 64, 15


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians of one decoder.

    read_s: seconds until all samples have their first token. step_ms: milliseconds per step. total_s: seconds of both.
    The fields with cpu are the same in processor time (benchmarks/llamacpp_peer.py). quickest_step_ms: the fastest
    step.
    """

    name: str
    read_s: float
    step_ms: float
    total_s: float
    read_cpu_s: float
    step_cpu_ms: float
    total_cpu_s: float
    quickest_step_ms: float


Run = Callable[[tuple[int, ...]], Seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description="the engine against llama.cpp")
    parser.add_argument("--model", type=Path, required=True, help="GGUF file")
    parser.add_argument(
        "--precisions", default="int4,bf16", help="precisions of our model, comma-separated (default int4,bf16)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="repeats of the case with one sequence (default 5)")
    parser.add_argument(
        "--sample-repeats", type=int, default=3, help="repeats of the case with samples of one prompt (default 3)"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tiny", action="store_true", help="little work, as a smoke test")
    given = parser.parse_args()
    if min(given.repeats, given.sample_repeats, given.threads) < 1:
        parser.error("--repeats, --sample-repeats and --threads must be at least 1")
    torch.set_num_threads(given.threads)
    keep_freed_memory()
    single, shared = (32, 64) if given.tiny else (512, 1024)
    cpu = torch.device("cpu")
    models = {
        name: load_for_engine(given.model, "cpu", weight_precision(name, cpu)).model
        for name in given.precisions.split(",")
    }
    vocabulary = next(iter(models.values())).config.vocab_size
    peer = LlamaCpp(given.model, context=shared + _SAMPLES * _NEW + 64, threads=given.threads, samples=_SAMPLES)
    load = os.getloadavg()[0]
    ours = {(name, mode): _engine_runs(model, mode) for name, model in models.items() for mode in (False, True)}
    cases = {}
    for case, length, seeds, temperature, repeats in (
        ("one sequence", single, (0,), 0.0, given.repeats),
        (f"{_SAMPLES} samples of one prompt", shared, tuple(range(_SAMPLES)), 0.7, given.sample_repeats),
    ):
        ways: dict[str, Run] = {"llama.cpp": lambda p, s=seeds, t=temperature: peer.run(p, _NEW, s, t)}  # type: ignore[misc]
        for (name, invariant), run in ours.items():
            label = f"{name}, invariant" if invariant else name
            ways[label] = lambda p, r=run, s=seeds, t=temperature: r(p, s, t)  # type: ignore[misc]
        cases[case] = _interleaved(case, ways, length, vocabulary, repeats)
    bandwidth = _bandwidth()
    line = {
        "benchmark": "engine_llamacpp",
        "llama_cpp_python": peer.version,
        "threads": given.threads,
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "bandwidth_gb_per_s": round(bandwidth / 1e9, 1),
        "limits_ms": _limits(given.model, models, bandwidth),
        "logit_loss": _losses(given.model, models, single, vocabulary),
        "cases": {case: [asdict(timing) for timing in timings] for case, timings in cases.items()},
        "repeats": [given.repeats, given.sample_repeats],
    }
    print(json.dumps(line))


def _engine_runs(model: Decoder, invariant: bool) -> Callable[[tuple[int, ...], Sequence[int], float], Seconds]:
    engine = Engine(model, EngineOptions(cache_bytes=0, invariant=invariant, memory_bytes=1 << 28))

    def run(prompt: tuple[int, ...], seeds: Sequence[int], temperature: float) -> Seconds:
        params = SamplingParams(max_tokens=_NEW, temperature=temperature)
        handle = engine.submit(EngineRequest(prompt, params, tuple(seeds)))
        watch = Watch()
        while not engine.step():
            pass
        watch.read()
        while not engine.done(handle):
            engine.step()
            watch.step()
        durations = watch.written()
        engine.result(handle)
        return durations

    return run


def _interleaved(case: str, ways: dict[str, Run], length: int, vocabulary: int, repeats: int) -> list[Timing]:
    """Run every decoder on each new prompt, in rotating order."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in ways}
    names = list(ways)
    for name in names:  # warm
        ways[name](random_prompt(32, vocabulary, 10**6))
    for repeat in range(repeats):
        prompt = random_prompt(length, vocabulary, repeat)
        for index in range(len(names)):
            name = names[(index + repeat) % len(names)]
            seconds[name].append(ways[name](prompt))
    out = []
    for name, runs in seconds.items():
        steps = 1000 / (_NEW - 1)
        figures = (
            statistics.median(one.read for one in runs),
            statistics.median(one.write * steps for one in runs),
            statistics.median(one.read + one.write for one in runs),
            statistics.median(one.read_cpu for one in runs),
            statistics.median(one.write_cpu * steps for one in runs),
            statistics.median(one.read_cpu + one.write_cpu for one in runs),
            min(1000 * one.quickest for one in runs),
        )
        out.append(Timing(name, *(round(figure, 3) for figure in figures)))
        print(f"{case}, {name}: {out[-1]}", flush=True)
    return out


def _bandwidth(size: int = 1 << 29) -> float:
    """Return the bytes per second that all threads together read from memory: the best of five sums over more than any
    cache.

    One thread is timed by processor time, so that other load on the machine does not matter.
    """
    numbers = torch.ones(size // 4)
    clock = process_time if torch.get_num_threads() == 1 else perf_counter
    best = float("inf")
    for _ in range(5):
        started = clock()
        numbers.sum()
        best = min(best, clock() - started)
    return size / best


def _limits(file: Path, models: dict[str, Decoder], bandwidth: float) -> dict[str, float]:
    """Return milliseconds to read every weight once: for the file, and for each of our precisions."""
    sizes = {"file": sum(tensor.size for tensor in open_gguf(file).tensors)}
    for name, model in models.items():
        if isinstance(model.row_steps, QuantisedStep):
            head = getattr(model.head.packed, "nbytes", 0)
            sizes[name] = model.row_steps.nbytes + head
        else:
            blocks = sum(parameter.numel() for parameter in load_decoder(file).blocks.parameters())
            sizes[name] = (blocks + model.embedding.weight.numel()) * model.dtype.itemsize
    return {name: round(1000 * size / bandwidth, 2) for name, size in sizes.items()}


def _losses(file: Path, models: dict[str, Decoder], length: int, vocabulary: int) -> dict[str, dict[str, float]]:
    """Return the error of each precision's decoding-step logits, relative to the file's weights in fp32."""
    full = load_decoder(file)
    ids = torch.tensor([random_prompt(length, vocabulary, 999)])
    with torch.inference_mode():
        exact = full.logits(full(ids)).flatten(0, 1)
        return {
            name: logit_loss_between(exact, _step_logits(model, ids[0])).as_dict() for name, model in models.items()
        }


def _step_logits(model: Decoder, ids: torch.Tensor) -> torch.Tensor:
    """Return the logits of each position, decoded token by token: (T, V)."""
    budget = bytes_per_position(model.config, model.dtype) * len(ids)
    arena = KeyValueArena(model.config, budget, dtype=model.dtype)
    state = DecodeState(arena, [RowGroup(1, (), 0, 1, 1)], model.config.max_positions)
    steps, out = model.row_steps, []
    for token in ids[:, None, None]:
        hidden = model(token, state)[:, -1] if steps is None else steps.hidden(token, state)
        out.append(model.logits(hidden).float())
    return torch.cat(out)


if __name__ == "__main__":
    main()
