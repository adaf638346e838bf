"""The engine with group-quantised weights returns the tokens of a float model with the same weights.

Results are bitwise equal with other requests in the batch. All models have fp32 heads of size 16, so that only one
kernel is compiled.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from generation.causal.generator import CausalGenerator
from generation.decoding.loop import decode
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.invariance import rows_agree
from generation.engine.loading import load_for_engine
from generation.engine.options import EngineOptions
from generation.engine.precision import WeightPrecision, weight_precision
from generation.engine.requests import EngineRequest
from model.checkpoints.loading import load_decoder
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.decoder.packing import PackedLinear
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.decode_state import DecodeState
from model.engine_state.ranges import KeyRange
from model.engine_state.reads import RowGroup
from model.errors import ModelError
from model.quantised.quantise import quantise
from tests import tiny_decoders
from tests.gguf_files import write

PLAIN = DecoderConfig(
    vocab_size=37,
    hidden_size=64,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    intermediate_size=96,
    max_positions=48,
)
KINDS = {
    "llama": PLAIN,
    "tied": dataclasses.replace(PLAIN, tied_head=True),
    "biases": dataclasses.replace(PLAIN, attention_bias=True, output_bias=True, mlp_bias=True),
    "qwen3": dataclasses.replace(PLAIN, qk_norm=True, rope_theta=1e6),
    "windows": dataclasses.replace(PLAIN, windows=(6, None), unrotated=(1,)),
    "one key head": dataclasses.replace(PLAIN, num_kv_heads=1, vocab_size=32),
}
FP32 = torch.float32


def random_decoder(config: DecoderConfig, seed: int = 0) -> Decoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Decoder(config)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.3)
    return model.eval().requires_grad_(False)


def with_reference(kind: str, bits: int) -> tuple[Decoder, Decoder]:
    """Return a quantised decoder, and a plain one with its dequantised weights."""
    model = random_decoder(KINDS[kind])
    quantise(model, bits)
    reference = Decoder(KINDS[kind]).eval().requires_grad_(False)
    reference.load_state_dict(model.state_dict())
    return model, reference


def options(invariant: bool = False) -> EngineOptions:
    return EngineOptions(memory_bytes=1 << 20, block=4, prefill_tokens=8, invariant=invariant, max_rows=40)


def requests(vocabulary: int) -> list[EngineRequest]:
    """Return requests with and without shared prefixes, greedy and sampled, with few and many samples."""
    prompts = [(3, 7, 7, 19, 4, 7), (3, 7, 7, 19, 4, 7, 22, 2, 9), (5,), (30, 1, 30, 1, 8, 8, 8, 9, 10, 11, 12, 13)]
    return [
        EngineRequest(
            tuple(token % vocabulary for token in prompt),
            SamplingParams(temperature=temperature, max_tokens=10),
            tuple(range(samples)),
            frozenset((6,)),
        )
        for prompt, temperature, samples in zip(prompts, (0.0, 0.7, 1.0, 0.0), (1, 12, 2, 1), strict=True)
    ]


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_those_of_the_dequantised_model(kind: str, bits: int, invariant: bool) -> None:
    model, reference = with_reference(kind, bits)
    batch = requests(model.config.vocab_size)
    for request, result in zip(batch, Engine(model, options(invariant)).run(batch), strict=True):
        plainly = decode(reference, request.prompt, request.params, request.seeds, request.end_ids)
        for sample, expected in zip(result.samples, plainly, strict=True):
            assert sample.token_ids == expected.token_ids
            assert sample.token_logprobs == pytest.approx(expected.token_logprobs, abs=1e-4)
            assert sample.finish_reason == expected.finish_reason


def test_company_makes_no_difference_to_a_bit() -> None:
    model, _ = with_reference("llama", 4)
    assert rows_agree(model, options(True), trials=1)
    batch = requests(model.config.vocab_size)
    together = Engine(model, options(True)).run(batch)
    for request, result in zip(batch, together, strict=True):
        assert Engine(model, options(True)).run([request])[0].samples == result.samples
        for seed, sample in zip(request.seeds, result.samples, strict=True):
            alone = dataclasses.replace(request, seeds=(seed,))
            assert Engine(model, options(True)).run([alone])[0].samples == (sample,)


def test_threads_make_no_difference_to_a_step() -> None:
    """Only steps are tested, because prompts are read with torch's products, which may depend on the threads."""
    model, _ = with_reference("biases", 4)
    assert model.row_steps is not None
    threads = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            arena = KeyValueArena(model.config, 60 * bytes_per_position(model.config, FP32), dtype=FP32)
            for numbers, seed in ((arena.keys, 1), (arena.values, 2)):
                numbers.copy_(torch.randn(numbers.shape, generator=torch.Generator().manual_seed(seed)))
            state = DecodeState(arena, [RowGroup(5, (KeyRange(0, 20),), 20, 8, 3)], model.config.max_positions)
            tokens = torch.tensor([[1], [2], [3], [1], [30]])
            found.append([model.row_steps.hidden(tokens, state) for _ in range(3)])
    finally:
        torch.set_num_threads(threads)
    for one, two in zip(*found, strict=True):
        assert torch.equal(one, two)


@pytest.mark.drill  # another kernel is compiled
def test_keys_in_bf16_are_rounded_as_torch_rounds() -> None:
    model, _ = with_reference("qwen3", 4)
    assert model.row_steps is not None
    arenas, found = [], []
    for dtype in (FP32, torch.bfloat16):
        arena = KeyValueArena(model.config, 60 * bytes_per_position(model.config, dtype), dtype=dtype)
        for numbers, seed in ((arena.keys, 1), (arena.values, 2)):
            numbers.copy_(torch.randn(numbers.shape, generator=torch.Generator().manual_seed(seed)).bfloat16())
        state = DecodeState(arena, [RowGroup(5, (KeyRange(0, 20),), 20, 8, 3)], model.config.max_positions)
        slots = state.slots.clone()
        found.append(model.row_steps.hidden(torch.tensor([[1], [2], [3], [1], [30]]), state))
        arenas.append((arena.keys[0, slots], arena.values[0, slots]))
    for exact, rounded in zip(*arenas, strict=True):  # values of the first layer, which has the same input
        assert torch.equal(exact.bfloat16(), rounded)
    assert torch.allclose(found[0], found[1], atol=0.02)


@pytest.mark.parametrize(("kind", "bits"), [("Q4_0", 4), ("Q4_1", 4), ("Q4_1", 8), ("Q8_0", 8)])
def test_a_file_whose_blocks_are_kept_decodes_as_its_numbers(tmp_path: Path, kind: str, bits: int) -> None:
    file = write(tmp_path / "m.gguf", quantised=kind, tie_word_embeddings=True).file
    loaded = load_for_engine(file, "cpu", WeightPrecision(FP32, bits=bits))
    assert loaded.model.row_steps is not None
    plain = load_decoder(file)
    request = EngineRequest((3, 7, 7, 19, 4, 7), SamplingParams(max_tokens=12), (0,))
    (result,) = Engine(loaded.model, options()).run([request])
    (expected,) = decode(plain, request.prompt, request.params, request.seeds, request.end_ids)
    assert result.samples[0].token_ids == expected.token_ids
    # If only the head is rounded to 8 bits, logits change by up to one per cent.
    assert result.samples[0].token_logprobs == pytest.approx(expected.token_logprobs, abs=0.1 if bits == 4 else 0.05)


def test_auto_keeps_a_files_blocks_and_rounds_nothing(tmp_path: Path) -> None:
    auto = weight_precision("auto", torch.device("cpu"))
    eights = write(tmp_path / "q8.gguf", quantised="Q8_0").file
    assert load_for_engine(eights, "cpu", auto).model.row_steps is not None
    for kind in ("F16", "Q5_1"):
        plain = load_for_engine(write(tmp_path / f"{kind}.gguf", quantised=kind).file, "cpu", auto)
        assert plain.model.row_steps is None and not plain.scheme
    gpt2 = load_for_engine(write(tmp_path / "gpt2.gguf", "gpt2", quantised="Q8_0").file, "cpu", auto)
    assert gpt2.model.row_steps is None


def test_the_fingerprint_says_how_weights_are_kept(tmp_path: Path) -> None:
    file = write(tmp_path / "m.gguf", quantised="Q8_0").file
    found = {CausalGenerator(file, precision=WeightPrecision(FP32, bits=bits)).fingerprint for bits in (0, 4, 8)}
    assert len(found) == 3


def test_eight_bits_of_another_kind_of_decoder_are_a_scale_a_channel(tmp_path: Path) -> None:
    loaded = load_for_engine(write(tmp_path / "m.gguf", "gpt2").file, "cpu", WeightPrecision(FP32, bits=8))
    assert loaded.model.row_steps is None and loaded.scheme == "int8"


def test_four_bits_of_another_kind_of_decoder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"4 bits.*layer"):
        load_for_engine(write(tmp_path / "m.gguf", "gpt2").file, "cpu", WeightPrecision(FP32, bits=4))
    with pytest.raises(ModelError, match=r"layer|post"):
        quantise(Decoder(tiny_decoders.PREFIX).requires_grad_(False), 4)


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("hidden_size", 80, "qkv"),
        ("intermediate_size", 100, "down"),
        ("head_dim", 20, "out"),
        ("head_dim", 10, "head_dim"),
    ],
)
def test_shapes_without_groups_are_refused_and_leave_the_model_alone(field: str, value: int, name: str) -> None:
    model = random_decoder(dataclasses.replace(PLAIN, **{field: value}, num_heads=2, num_kv_heads=1))
    before = {key: weight.clone() for key, weight in model.state_dict().items()}
    with pytest.raises(ModelError, match=rf"{name}.*{value}|{name}.*{2 * value}"):
        quantise(model, 4)
    assert all(torch.equal(weight, before[key]) for key, weight in model.state_dict().items())
    assert model.row_steps is None


@pytest.mark.parametrize("bits", [2, 3, 5, 16])
def test_other_numbers_of_bits_are_refused(bits: int) -> None:
    with pytest.raises(ModelError, match=str(bits)):
        quantise(random_decoder(PLAIN), bits)


def test_a_damaged_weight_is_named() -> None:
    model = random_decoder(PLAIN)
    model.blocks[1].mlp.down.weight[3, 5] = float("nan")  # type: ignore[union-attr, operator, index]
    with pytest.raises(ModelError, match=r"blocks\.1\.mlp\.down"):
        quantise(model, 4)


def test_prompts_are_read_with_packed_weights_of_the_same_numbers(tmp_path: Path) -> None:
    file = write(tmp_path / "m.gguf", quantised="Q4_1").file
    loaded = load_for_engine(file, "cpu", WeightPrecision(FP32, bits=4)).model
    assert any(isinstance(module, PackedLinear) for module in loaded.blocks.modules())
    ids = torch.tensor([[1, 17, 5, 88, 120, 3, 42]])
    assert torch.allclose(loaded(ids), load_decoder(file)(ids), atol=1e-4)
