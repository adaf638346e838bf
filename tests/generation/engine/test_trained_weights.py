"""The engine's guarantees with the trained decoder that ships.

Other tests use random weights, whose distributions differ from those of a trained model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from generation.causal.generator import CausalGenerator
from generation.causal.transformers_generator import TransformersGenerator
from generation.decoding.loop import decode
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.loading import load_decoder
from model.checkpoints.shipped import shipped_decoder, shipped_reader, shipped_verifier
from model.checkpoints.tokenizer import Tokenizer
from model.decoder.decoder import Decoder
from model.training.pretrain_shape import parameter_count
from retrieval.chunking.chunks import RetrievedChunk

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "corpus"
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "engine.md"
LIGHT = "The lighthouse at Skerry was built in 1871. Ada Thorne drew it, and it stands 34 metres above the sea."
KEEPER = "A keeper lived at Skerry until 1983. Since then the lamp is looked after from the mainland."


@pytest.fixture(scope="module")
def model() -> Decoder:
    return load_decoder(shipped_decoder())


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(shipped_decoder() / "tokenizer.json")


@pytest.fixture(scope="module")
def ours() -> CausalGenerator:
    return CausalGenerator(shipped_decoder())


@pytest.fixture(scope="module")
def texts() -> tuple[str, ...]:
    """Return texts of the sample corpus, which is in no training data."""
    return tuple(path.read_text("utf-8") for path in sorted((SAMPLES / "world").glob("*.md"))[:8])


def test_what_ships_fits(model: Decoder) -> None:
    """The shipped models have at most 25 million parameters each, and at most 48 MB of weights in total."""
    assert parameter_count(model) <= 25_000_000
    folders = (shipped_reader(), shipped_verifier(), shipped_decoder())
    assert sum(path.stat().st_size for folder in folders for path in folder.glob("*.safetensors")) <= 48_000_000


def test_logits_are_those_of_transformers(model: Decoder, tokenizer: Tokenizer, texts: tuple[str, ...]) -> None:
    from transformers import AutoModelForCausalLM

    reference: Any = AutoModelForCausalLM.from_pretrained(shipped_decoder(), dtype=torch.float32).eval()
    for text in texts[:3]:
        ids = torch.tensor([tokenizer.encode(text).token_ids[: model.config.max_positions]])
        with torch.no_grad():
            found, expected = model.logits(model(ids)), reference(ids).logits
        assert (found - expected).abs().max() < 1e-4 * expected.abs().max()


def test_it_has_learned_a_language(model: Decoder, tokenizer: Tokenizer, texts: tuple[str, ...]) -> None:
    """Its loss on unseen text is far below that of a uniform choice, and context reduces it."""
    losses, lengths = [], []
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text).token_ids[: model.config.max_positions]])
        with torch.no_grad():
            logprobs = model.target_logprobs(model(ids)[:, :-1], ids[:, 1:])[0]
        losses.append(-float(logprobs.sum()))
        lengths.append(logprobs.numel())
    uniform = math.log(model.config.vocab_size)
    assert sum(losses) / sum(lengths) < 0.75 * uniform
    with torch.no_grad():  # the words of a text in another order
        shuffled = torch.tensor([tokenizer.encode(texts[0]).token_ids])
        order = torch.randperm(shuffled.shape[1], generator=torch.Generator().manual_seed(0))
        mixed = shuffled[:, order]
        cost = -model.target_logprobs(model(mixed)[:, :-1], mixed[:, 1:]).mean()
    assert losses[0] / lengths[0] < float(cost) - 1.0


def test_greedy_answers_are_those_of_transformers(ours: CausalGenerator, chunk: Callable[..., RetrievedChunk]) -> None:
    peer = TransformersGenerator(shipped_decoder())
    params = SamplingParams(max_tokens=24, top_logprobs=2)
    for question, passages in (
        ("Who drew the lighthouse?", [chunk(LIGHT, "Skerry"), chunk(KEEPER, "The keeper", 2)]),
        ("When did the keeper leave?", [chunk(KEEPER, "The keeper")]),
        ("How high is it?", []),
    ):
        prompt = ours.prompt(question, passages, 24)
        (found,), (expected,) = ours.generate(prompt, params, (0,)), peer.generate(prompt, params, (0,))
        assert found.token_ids == expected.token_ids
        assert found.token_logprobs == pytest.approx(expected.token_logprobs, abs=2e-4)
        assert found.finish_reason == expected.finish_reason


@pytest.mark.parametrize("invariant", [False, True])
def test_requests_of_real_text_decode_as_alone(
    model: Decoder, tokenizer: Tokenizer, texts: tuple[str, ...], invariant: bool
) -> None:
    """With shared prefixes and all temperatures, the engine's tokens are those of the reference loop."""
    ends = frozenset(eos_token_ids(shipped_decoder()))
    beginning = tokenizer.encode(texts[0]).token_ids[:100]
    requests = [
        EngineRequest(
            beginning[: 40 + 10 * n] + tokenizer.encode(texts[n]).token_ids[: 3 * n],
            SamplingParams(temperature=temperature, top_p=0.9, max_tokens=12),
            (n, n + 100),
            ends,
        )
        for n, temperature in enumerate((0.0, 0.7, 1.0, 1.3, 0.7, 0.0))
    ]
    options = EngineOptions(memory_bytes=1 << 25, cache_bytes=1 << 22, invariant=invariant)
    for request, result in zip(requests, Engine(model, options).run(requests), strict=True):
        plainly = decode(model, request.prompt, request.params, request.seeds, request.end_ids)
        assert [s.token_ids for s in result.samples] == [s.token_ids for s in plainly]
        for sample, reference in zip(result.samples, plainly, strict=True):
            assert sample.token_logprobs == pytest.approx(reference.token_logprobs, abs=2e-4)


def test_samples_are_texts_of_their_own(ours: CausalGenerator, chunk: Callable[..., RetrievedChunk]) -> None:
    """Sampled texts depend on the seed alone, and are mostly letters and spaces."""
    prompt = ours.prompt("When was the lighthouse built?", [chunk(LIGHT, "Skerry"), chunk(KEEPER, "The keeper", 2)], 32)
    params = SamplingParams(max_tokens=32, temperature=0.8)
    expected = [completion.text for completion in ours.generate(prompt, params, tuple(range(6)))]
    assert len(set(expected)) >= 4  # a text may be empty
    assert expected[3] == ours.generate(prompt, params, (3,))[0].text
    letters = [letter for text in expected for letter in text]
    assert sum(letter.isalpha() or letter.isspace() for letter in letters) > 0.6 * len(letters)


def test_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The example in docs/engine.md runs."""
    code = re.search(r"```python\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)
    assert code is not None
    exec(compile(code.group(1), "docs/engine.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all(lines)
