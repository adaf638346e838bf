"""The transformers Generator with tiny random checkpoints: greedy answers equal those of CausalGenerator."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
import torch
from safetensors.torch import load_file, save_file

from generation.causal.generator import CausalGenerator
from generation.causal.transformers_generator import TransformersGenerator
from generation.completion import TextDelta
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import GenerationTask
from generation.live import FinishedRequest, LiveGenerator, LiveRequest
from model.errors import ModelError
from retrieval.chunking.chunks import RetrievedChunk

MakeLlama = Callable[..., Path]
MakeChunk = Callable[..., RetrievedChunk]


@pytest.fixture(scope="module")
def folder(llama: MakeLlama) -> Path:
    made = llama(chat=True, positions=700)
    # Recommendations of the checkpoint must have no effect.
    (made / "generation_config.json").write_text(json.dumps({"do_sample": True, "top_k": 3, "eos_token_id": [381]}))
    return made


@pytest.fixture(scope="module")
def peer(folder: Path) -> TransformersGenerator:
    return TransformersGenerator(folder)


@pytest.fixture(scope="module")
def ours(folder: Path) -> CausalGenerator:
    return CausalGenerator(folder)


def test_greedy_tokens_and_logprobs_equal_ours(
    peer: TransformersGenerator, ours: CausalGenerator, chunk: MakeChunk
) -> None:
    assert peer.context_length == ours.context_length == 700
    assert peer.fingerprint != ours.fingerprint
    for question, passages in (("Who drew it?", []), ("How high?", [chunk("It stands 34 metres high.", "Skerry")])):
        prompt = peer.prompt(question, passages, 24)
        assert prompt == ours.prompt(question, passages, 24)
        for params in (
            SamplingParams(max_tokens=24, top_logprobs=3),
            SamplingParams(max_tokens=24, repetition_penalty=1.4, logit_bias=((40, 3.0), (41, -1e9))),
        ):
            (found,), (expected,) = peer.generate(prompt, params, (0,)), ours.generate(prompt, params, (0,))
            assert found.token_ids == expected.token_ids
            assert (found.text, found.finish_reason, found.usage) == (
                expected.text,
                expected.finish_reason,
                expected.usage,
            )
            assert found.token_logprobs == pytest.approx(expected.token_logprobs, abs=1e-4)
            for theirs, own in zip(found.top_logprobs, expected.top_logprobs, strict=True):
                assert [token for token, _ in theirs] == [token for token, _ in own]


def test_a_seed_gives_the_same_answer_and_leaves_other_random_numbers_alone(peer: TransformersGenerator) -> None:
    prompt = peer.prompt("Who drew it?", [], 12)
    params = SamplingParams(temperature=1.0, top_p=0.95, top_k=200, min_p=0.001, max_tokens=12)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        expected = torch.rand(1)
        torch.manual_seed(5)
        first = peer.generate(prompt, params, (1, 2, 3))
        assert torch.equal(torch.rand(1), expected)
    assert [c.token_ids for c in peer.generate(prompt, params, (3, 2))] == [first[2].token_ids, first[1].token_ids]
    assert len({c.token_ids for c in first}) == 3


def test_a_stop_string_ends_the_text_before_it(peer: TransformersGenerator) -> None:
    prompt = peer.prompt("Who drew it?", [], 20)
    (full,) = peer.generate(prompt, SamplingParams(temperature=1.0, max_tokens=20), (4,))
    stop = full.text[3:5]
    (cut,) = peer.generate(prompt, SamplingParams(temperature=1.0, max_tokens=20, stop=(stop,)), (4,))
    assert cut.finish_reason == "stop"
    assert stop not in cut.text
    assert len(cut.token_ids) < 20


def test_a_bias_of_a_token_that_does_not_exist_is_refused(peer: TransformersGenerator) -> None:
    with pytest.raises(GenerationError, match=r"logit_bias.*99999"):
        peer.generate(peer.prompt("Who?", [], 5), SamplingParams(logit_bias=((99_999, 1.0),)), (0,))


def test_nan_weights_are_never_drawn_from(llama: MakeLlama) -> None:
    folder = llama(positions=300)
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"] = torch.full_like(weights["model.norm.weight"], torch.nan)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    generator = TransformersGenerator(folder)
    for temperature in (0.0, 1.0):
        with pytest.raises(GenerationError, match="NaN"):
            generator.generate(generator.prompt("Who?", [], 5), SamplingParams(temperature=temperature), (0,))


def test_pickles_and_code_of_the_checkpoint_are_refused(llama: MakeLlama, tmp_path: Path) -> None:
    folder = llama()
    config = json.loads((folder / "config.json").read_text())
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="pickle"):
        TransformersGenerator(folder)
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    strange = config | {"model_type": "strange", "auto_map": {"AutoModelForCausalLM": "evil.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(strange))
    with pytest.raises(ModelError, match="auto_map"):
        TransformersGenerator(tmp_path)
    save_file({"a": torch.ones(1)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "strange"}))
    with pytest.raises(ModelError, match="transformers"):
        TransformersGenerator(tmp_path)
    with pytest.raises(ModelError, match="nowhere"):
        TransformersGenerator(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_hidden_layers": 10**9}, r"config\.json.*num_hidden_layers.*1000000000"),
        ({"vocab_size": 10**7, "hidden_size": 4096}, r"parameters.* 0\.\d MB"),
        ({"intermediate_size": 10**400}, r"config\.json.*intermediate_size.*1000"),
        ({"hidden_size": 2**39, "intermediate_size": 2**39}, r"impossible|parameters"),
    ],
)
def test_a_config_larger_than_its_files_takes_no_memory(llama: MakeLlama, fields: dict[str, int], message: str) -> None:
    folder = llama()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | fields))
    with pytest.raises(ModelError, match=message):
        TransformersGenerator(folder)


def test_a_model_larger_than_the_memory_is_refused_before_it_is_loaded(
    llama: MakeLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = llama()
    monkeypatch.setattr("model.hardware.memory.available_bytes", lambda device: 1000)
    with pytest.raises(ModelError, match=r"0\.0 GB"):
        TransformersGenerator(folder)


def test_text_comes_while_it_is_drawn(peer: TransformersGenerator) -> None:
    assert isinstance(peer, LiveGenerator)
    prompt = peer.prompt("Who drew it?", [], 12)
    params = SamplingParams(temperature=1.0, max_tokens=12, stop=("qq",), top_logprobs=2)
    heard: queue.SimpleQueue[TextDelta | FinishedRequest | Exception] = queue.SimpleQueue()
    peer.begin(GenerationTask(prompt, params, (1, 2)), heard.put)
    pieces: list[TextDelta] = []
    while isinstance(found := heard.get(timeout=240), TextDelta):
        pieces.append(found)
    assert isinstance(found, FinishedRequest), found
    assert found.completions == peer.generate(prompt, params, (1, 2))
    assert len(pieces) > len(found.completions)
    for sample, completion in enumerate(found.completions):
        assert "".join(piece.text for piece in pieces if piece.sample == sample) == completion.text


def test_a_cancelled_request_ends_at_its_next_token(peer: TransformersGenerator) -> None:
    """The listener cancels at the first text. A model with random weights would continue to the last token."""
    prompt = peer.prompt("Who drew it?", [], 400)
    params = SamplingParams(temperature=1.0, max_tokens=400, logit_bias=tuple((end, -1e9) for end in peer._ends))
    heard: queue.SimpleQueue[FinishedRequest | Exception] = queue.SimpleQueue()
    ready = Event()
    begun: list[LiveRequest] = []

    def listener(event: TextDelta | FinishedRequest | Exception) -> None:
        if isinstance(event, TextDelta):
            assert ready.wait(240)
            begun[0].cancel()
        else:
            heard.put(event)

    begun.append(peer.begin(GenerationTask(prompt, params, (1, 2)), listener))
    ready.set()
    drawn = heard.get(timeout=240)
    assert isinstance(drawn, FinishedRequest), drawn
    assert [completion.finish_reason for completion in drawn.completions] == ["cancelled", "cancelled"]
    assert 0 < len(drawn.completions[0].token_ids) < 400
    assert drawn.completions[1].token_ids == ()


def test_what_is_wrong_is_heard(peer: TransformersGenerator) -> None:
    heard: queue.SimpleQueue[object] = queue.SimpleQueue()
    params = SamplingParams(logit_bias=((99_999, 1.0),))
    peer.begin(GenerationTask(peer.prompt("Who?", [], 5), params, (0,)), heard.put)
    assert isinstance(heard.get(timeout=240), GenerationError)
