"""In invariant mode, results are bitwise equal alone, in a batch of 64, at another time, and with cached prompts.

In the default mode, log-probabilities only agree within 1e-4 (fp32, weights of this size).
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.invariance import rows_agree
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.decoder.decoder import Decoder
from model.decoder.packing import can_pack, pack

Tiny = Callable[[str], Decoder]


def options(invariant: bool, cache: int = 1 << 17) -> EngineOptions:
    return EngineOptions(
        memory_bytes=1 << 20, cache_bytes=cache, block=4, prefill_tokens=4, invariant=invariant, max_rows=80
    )


def company(count: int) -> list[EngineRequest]:
    """Return ``count`` requests of two samples and different lengths, many with a common prefix."""
    rng = random.Random(5)
    out = []
    for _ in range(count):
        prompt = (3, 7, 7, 19, 4, 7, 22, 2, 9)[: rng.randint(1, 9)] + tuple(
            rng.randint(0, 30) for _ in range(rng.randint(0, 12))
        )
        params = SamplingParams(
            temperature=rng.choice([0.0, 1.0, 1.3]),
            top_p=rng.choice([1.0, 0.9]),
            repetition_penalty=rng.choice([1.0, 1.2]),
            max_tokens=rng.randint(1, 14),
        )
        out.append(EngineRequest(prompt, params, tuple(rng.randrange(10**6) for _ in range(2)), frozenset((5,))))
    return out


@pytest.mark.parametrize(
    ("kind", "packed", "count"),
    [
        ("llama", True, 32),
        ("window", False, 12),
        ("marked", True, 12),
        ("shipped", True, 8),
        *(
            pytest.param(*full, 32, marks=pytest.mark.drill)
            for full in [("window", False), ("marked", True), ("shipped", True)]
        ),
    ],
)
def test_alone_in_company_and_again(tiny: Tiny, kind: str, packed: bool, count: int) -> None:
    model, requests = tiny(kind), company(count)
    if packed and can_pack(model.device, model.dtype):
        pack(model)
    assert rows_agree(model, options(True), trials=1)
    together = Engine(model, options(True)).run(requests)
    engine = Engine(model, options(True))
    engine.run(requests[len(requests) // 2 :])  # other requests in the batch, and other cached prompts
    late = [engine.submit(request) for request in requests[::-1]]
    while engine.busy:
        engine.step()
    for place, (request, result) in enumerate(zip(requests, together, strict=True)):
        (alone,) = Engine(model, options(True, cache=0)).run([request])
        # Tokens, log-probabilities and copy shares must be equal, not only close.
        assert alone.samples == result.samples
        assert engine.result(late[len(requests) - 1 - place]).samples == result.samples


def test_each_sample_alone_equals_itself_among_its_siblings(tiny: Tiny) -> None:
    model = tiny("llama")
    params = SamplingParams(temperature=1.0, max_tokens=12)
    full = EngineRequest((3, 7, 7, 19, 4), params, tuple(range(20)), frozenset((5,)))
    (together,) = Engine(model, options(True)).run([full])
    for seed in range(20):
        one = EngineRequest(full.prompt, params, (seed,), full.end_ids)
        assert Engine(model, options(True)).run([one])[0].samples[0] == together.samples[seed]


def test_the_default_mode_agrees_within_its_tolerance(tiny: Tiny) -> None:
    model, requests = tiny("llama"), company(32)
    for request, result in zip(requests, Engine(model, options(False)).run(requests), strict=True):
        (alone,) = Engine(model, options(False, cache=0)).run([request])
        for one, other in zip(alone.samples, result.samples, strict=True):
            assert one.token_ids == other.token_ids  # these seeds avoid rounding at a step of a distribution
            assert one.token_logprobs == pytest.approx(other.token_logprobs, abs=1e-4)


class Uneven(Decoder):
    """A decoder whose kernels treat the last row of a block differently."""

    def forward(self, token_ids: torch.Tensor, *arguments: object, **more: object) -> torch.Tensor:
        hidden = super().forward(token_ids, *arguments, **more)  # type: ignore[arg-type]
        hidden[-1] *= 1.0000001
        return hidden


def test_a_machine_that_does_not_treat_rows_alike_is_found_out(tiny: Tiny) -> None:
    plain = tiny("llama")
    model = Uneven(plain.config).eval().requires_grad_(False)
    model.load_state_dict(plain.state_dict())
    assert not rows_agree(model, options(True), trials=1)
