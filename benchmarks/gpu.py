"""The engine on one GPU, in at most ten minutes: parity, one sequence, a batch, a grid of temperatures.

    python -m benchmarks.gpu                        # cuda, shapes of a 135-million-parameter model
    python -m benchmarks.gpu --device cpu --tiny    # smoke test

Weights are random, since only arithmetic is measured. parity compares the engine's greedy tokens with uncached passes
of the same model (fp32), and bf16 logits with fp32 ones. The other cases give tokens per second, after one warm-up. The
output is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from time import perf_counter

import torch

from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.hardware.device import pick_device

FULL = DecoderConfig(49152, 576, 30, 9, 3, 64, 1536, 4096, tied_head=True)
TINY = DecoderConfig(193, 32, 2, 4, 2, 8, 48, 256, tied_head=True)


def random_decoder(config: DecoderConfig, device: torch.device, dtype: torch.dtype) -> Decoder:
    """Return a decoder with the same weights on every device and in every dtype, up to rounding."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Decoder(config)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.1)
    return model.to(device=device, dtype=dtype).eval().requires_grad_(False)


def tokens_of(
    model: Decoder, prompts: list[tuple[int, ...]], params: SamplingParams, seeds: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Return the engine's tokens for all prompts in one batch, sample by sample."""
    engine = Engine(model, EngineOptions(invariant=False))
    handles = [engine.submit(EngineRequest(prompt, params, seeds, frozenset())) for prompt in prompts]
    while engine.busy:
        engine.step()
    return [sample.token_ids for handle in handles for sample in engine.result(handle).samples]


@torch.inference_mode()
def parity(config: DecoderConfig, device: torch.device, steps: int) -> dict[str, object]:
    """Compare greedy tokens of the engine with uncached passes, and bf16 logits with fp32 logits."""
    prompt = _prompt(config, 24)
    model = random_decoder(config, device, torch.float32)
    (ours,) = tokens_of(model, [prompt], SamplingParams(max_tokens=steps), (0,))
    ids = list(prompt)
    for _ in range(steps):
        ids.append(int(model.logits(model(torch.tensor([ids], device=device)))[0, -1].argmax()))
    exact = model.logits(model(torch.tensor([prompt], device=device)))[0].float()
    half = random_decoder(config, device, torch.bfloat16)
    rounded = half.logits(half(torch.tensor([prompt], device=device)))[0].float()
    equal = sum(a == b for a, b in zip(ours, ids[len(prompt) :], strict=True))
    return {
        "greedy_tokens": steps,
        "equal_to_uncached": equal,
        "bf16_logit_difference": float((exact - rounded).abs().max()),
        "largest_logit": float(exact.abs().max()),
    }


def speed(work: Callable[[], list[tuple[int, ...]]], device: torch.device) -> dict[str, object]:
    """Return the tokens per second of the second of two runs."""
    work()
    _wait(device)
    started = perf_counter()
    drawn = sum(len(tokens) for tokens in work())
    _wait(device)
    seconds = perf_counter() - started
    return {"tokens": drawn, "seconds": round(seconds, 4), "tokens_per_second": round(drawn / seconds, 1)}


def measure(device: torch.device, *, tiny: bool) -> dict[str, object]:
    """Return the results of all cases."""
    config, length, new, batch = (TINY, 48, 8, 4) if tiny else (FULL, 512, 128, 64)
    results: dict[str, object] = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "torch": torch.__version__,
        "parity": parity(config, device, new),
    }
    model = random_decoder(config, device, torch.bfloat16 if device.type == "cuda" else torch.float32)
    greedy, warm = SamplingParams(max_tokens=new), SamplingParams(max_tokens=new, temperature=0.7)
    prompts = [_prompt(config, length, seed) for seed in range(batch)]
    results["single"] = speed(lambda: tokens_of(model, prompts[:1], greedy, (0,)), device)
    results["batch"] = speed(lambda: tokens_of(model, prompts, greedy, (0,)), device)
    results["samples_of_one_prompt"] = speed(lambda: tokens_of(model, prompts[:1], warm, tuple(range(batch))), device)
    grid: dict[str, object] = {}
    for temperature in (0.3, 0.7, 1.0):
        params = SamplingParams(max_tokens=new, temperature=temperature)
        work = partial(tokens_of, model, prompts[: batch // 2], params, (0, 1))
        grid[f"temperature {temperature:g}"] = speed(work, device)
    results["grid"] = grid
    return results


def _prompt(config: DecoderConfig, length: int, seed: int = 0) -> tuple[int, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(0, config.vocab_size, (length,), generator=generator).tolist())


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main() -> None:
    """Print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="shapes that a CPU computes in a second")
    arguments = parser.parse_args()
    print(json.dumps(measure(pick_device(arguments.device), tiny=arguments.tiny), indent=2))


if __name__ == "__main__":
    main()
