"""An exported decoder gives the same logits to our loader and to transformers, whole or in shards."""

from __future__ import annotations

import dataclasses
import json
import resource
from pathlib import Path

import pytest
import torch

from model.architectures.families import decoder_config
from model.checkpoints.checkpoint import read_checkpoint
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.llama_export import largest_tensor_bytes, llama_config_json, save_llama
from model.checkpoints.loading import load_decoder
from model.decoder.config import DecoderConfig
from model.decoder.decoder import Decoder
from model.errors import ModelError
from model.training.bpe import PAD_ID, train_bpe, write_tokenizer

CONFIG = DecoderConfig(
    vocab_size=300,
    hidden_size=32,
    num_layers=3,
    num_heads=4,
    num_kv_heads=2,
    head_dim=8,
    intermediate_size=56,
    max_positions=96,
    norm_eps=1e-5,
    tied_head=True,
)
VARIANTS = {
    "tied": CONFIG,
    "own head, biases": dataclasses.replace(
        CONFIG, tied_head=False, attention_bias=True, output_bias=True, mlp_bias=True, rope_theta=500000.0
    ),
    "explicit head size": dataclasses.replace(CONFIG, head_dim=12, num_kv_heads=1),
}


def build(config: DecoderConfig) -> Decoder:
    """Weights so large that logits spread over units: the tolerance would mean nothing on logits near zero."""
    random = torch.Generator().manual_seed(0)
    model = Decoder(config)
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float("norm" in name), std=0.3, generator=random)
    return model.eval().requires_grad_(False)


@pytest.mark.parametrize("shard_bytes", [None, 60_000])
@pytest.mark.parametrize("variant", VARIANTS)
def test_logits(variant: str, shard_bytes: int | None, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM  # here: the import takes seconds

    model = build(VARIANTS[variant])
    files = save_llama(model, tmp_path, end_id=0, pad_id=1, dtype=torch.float32, shard_bytes=shard_bytes)
    assert all((tmp_path / name).stat().st_size <= (shard_bytes or 10**9) for name in files)
    assert len(files) == 1 if shard_bytes is None else len(files) > 1
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
    ours = load_decoder(tmp_path)
    ids = torch.randint(0, 300, (2, 96), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = model.logits(model(ids))
        assert expected.std() > 1.0
        torch.testing.assert_close(ours.logits(ours(ids)), expected, atol=1e-6, rtol=0)
        torch.testing.assert_close(theirs(ids).logits, expected, atol=1e-4, rtol=0)
    assert theirs.generation_config.eos_token_id == 0
    assert eos_token_ids(tmp_path) == (0,)
    assert ours.config == model.config


def test_half_precision_is_rounded_once(tmp_path: Path) -> None:
    model = build(CONFIG)
    for dtype in (torch.float16, torch.bfloat16):
        save_llama(model, tmp_path, end_id=0, dtype=dtype)
        loaded = load_decoder(tmp_path)
        for name, parameter in model.named_parameters():
            assert torch.equal(loaded.get_parameter(name), parameter.to(dtype).float())


def test_a_second_export_replaces_the_first(tmp_path: Path) -> None:
    first = save_llama(build(CONFIG), tmp_path, end_id=0, shard_bytes=40_000)
    assert len(first) > 2
    assert save_llama(build(CONFIG), tmp_path, end_id=0) == ("model.safetensors",)
    assert {p.name for p in tmp_path.iterdir()} == {"config.json", "generation_config.json", "model.safetensors"}
    second = save_llama(build(CONFIG), tmp_path, end_id=0, shard_bytes=70_000)
    assert 1 < len(second) < len(first)
    assert {path.name for path in read_checkpoint(tmp_path).files} == set(second)


def test_transformers_reads_the_tokenizer_alike(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from model.checkpoints.tokenizer import Tokenizer

    save_llama(build(CONFIG), tmp_path, end_id=0, pad_id=PAD_ID)
    write_tokenizer(tmp_path, train_bpe([f"The lamp of Tarn, {n} years." for n in range(40)], 300), 96)
    theirs, ours = AutoTokenizer.from_pretrained(tmp_path), Tokenizer(tmp_path / "tokenizer.json")
    text = "The lamp of café Tarn,\n  1871 years"
    assert theirs(text)["input_ids"] == [0, *ours.encode(text).token_ids]
    assert theirs.decode(theirs(text)["input_ids"], skip_special_tokens=True) == text
    assert (theirs.eos_token_id, theirs.bos_token_id, theirs.pad_token_id) == (0, 0, 1)
    assert theirs.model_max_length == 96


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_the_config_is_the_inverse_of_reading_it(config: DecoderConfig) -> None:
    assert decoder_config(json.loads(json.dumps(llama_config_json(config, 0)))) == config


@pytest.mark.parametrize(
    ("field", "value"),
    [("norm", "layer"), ("positions", "learned"), ("activation", "gelu"), ("prefix", True), ("output_bias", True)],
)
def test_what_llama_cannot_say_is_refused(field: str, value: object) -> None:
    with pytest.raises(ModelError, match=f"{field} is {value!r}"):
        llama_config_json(dataclasses.replace(CONFIG, **{field: value}), 0)  # type: ignore[arg-type]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    model = build(CONFIG)
    with pytest.raises(ModelError, match=r"embed_tokens.weight.*38,400"):
        save_llama(model, tmp_path, end_id=0, dtype=torch.float32, shard_bytes=38_500)
    assert largest_tensor_bytes(CONFIG, torch.float32) > 38_400
    with pytest.raises(ModelError, match="only float32"):
        save_llama(model, tmp_path, end_id=0, dtype=torch.float64)
    model.embedding.weight[3, 3] = 1e6
    with pytest.raises(ModelError, match=r"embed_tokens.weight.*float16"):
        save_llama(model, tmp_path, end_id=0)


def test_a_full_disk_leaves_no_half_checkpoint(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
        with pytest.raises(ModelError, match="could not be written to"):
            save_llama(build(CONFIG), tmp_path, end_id=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())
