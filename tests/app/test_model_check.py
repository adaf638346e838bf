"""``plumbline model check``: passing checkpoints, its output, and all kinds of invalid checkpoints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import app.models.check as model_check
from app.cli import main
from model.checkpoints.loading import load_decoder
from model.decoder.decoder import Decoder

Check = Callable[..., SimpleNamespace]
SIZES: dict[str, Any] = {
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
    "eos_token_id": [3, 4],
    "bos_token_id": None,
    "pad_token_id": None,
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens(["<end>"])
    return made


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> Callable[..., Path]:
    """Function that writes a random checkpoint. It takes the class and fields of transformers' config."""
    import transformers

    made: dict[str, Path] = {}

    def make(kind: str = "LlamaConfig", shard: str = "1GB", **fields: object) -> Path:
        key = repr((kind, shard, sorted(fields.items())))
        if key not in made:
            made[key] = tmp_path_factory.mktemp("made")
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(2)
                config = getattr(transformers, kind)(**(SIZES | fields))
                transformers.AutoModelForCausalLM.from_config(config).save_pretrained(made[key], max_shard_size=shard)
            tokenizer.save(str(made[key] / "tokenizer.json"))
        folder = tmp_path_factory.mktemp("copy")
        shutil.copytree(made[key], folder, dirs_exist_ok=True)
        return folder

    return make


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))

    def run(*arguments: object) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main(["model", "check", *map(str, arguments)])
        except SystemExit as error:  # argparse leaves this way
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=" ".join(captured.err.split()))

    return run


def test_a_good_checkpoint(checkpoint: Callable[..., Path], check: Check) -> None:
    folder = checkpoint("MistralConfig", sliding_window=20)
    facts = {"eos_token": "<end>", "chat_template": "{{ messages[0].content }}"}
    (folder / "tokenizer_config.json").write_text(json.dumps(facts))
    result = check(folder)
    assert result.code == 0
    lines = {line[:14].strip(): line[15:] for line in result.out.splitlines()}
    assert lines["family"] == "mistral (MistralForCausalLM), 2 layers"
    weights = 2 * 320 * 32 + 32 + 2 * (2 * 32 + 32 * 32 * 2 + 32 * 16 * 2 + 3 * 32 * 48)
    assert lines["parameters"] == f"{weights:,}"
    assert lines["in float32"].startswith(f"weights {4 * weights / 1000:,.4g} KB, KV cache 256 B per token, 16.38 KB")
    assert lines["in bfloat16"].startswith(f"weights {2 * weights / 1000:,.4g} KB, KV cache 128 B per token")
    assert lines["context"] == "64 tokens"
    assert lines["positions"] == "rotary, plain, base 10,000"
    assert lines["window"] == "20 tokens in 2 layers"
    assert lines["end tokens"] == "3 '$', 4 '%', 256 '<end>'"
    assert lines["chat template"] == "yes"
    assert "prompt of 28 tokens" in lines["one pass"]  # beyond the window
    assert "16 of 16 greedy tokens equal" in result.out
    assert lines["result"] == "pass"
    assert "error" not in result.err


def test_json(checkpoint: Callable[..., Path], check: Check) -> None:
    result = check(checkpoint("GPT2Config", n_positions=64, tie_word_embeddings=True), "--json")
    assert result.code == 0 and len(result.out.splitlines()) == 1
    found = json.loads(result.out)
    assert found["passed"] and found["problems"] == []
    assert found["facts"]["family"] == "gpt2" and found["facts"]["rope"] is None
    assert found["reference"]["logit_difference"] <= found["reference"]["tolerance"]
    assert found["end_tokens"] == [[3, "$"], [4, "%"]] and found["chat_template"] is False


def test_bf16(checkpoint: Callable[..., Path], check: Check) -> None:
    found = json.loads(check(checkpoint(), "--dtype", "bfloat16", "--json").out)
    assert found["passed"] and found["dtype"] == "bfloat16"
    assert found["reference"]["logit_difference"] > 1e-4  # it was computed in bf16


def test_a_tiny_context(checkpoint: Callable[..., Path], check: Check) -> None:
    result = check(checkpoint(max_position_embeddings=4))
    assert result.code == 0 and "3 of 3 greedy tokens equal" in result.out


def write_nan(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.1.mlp.up_proj.weight"][3, 5] = float("nan")
    save_file(tensors, folder / "model.safetensors")


def edit(folder: Path, **fields: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | fields))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def end_beyond(folder: Path) -> None:
    edit(folder, eos_token_id=320)
    (folder / "generation_config.json").unlink()


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "not JSON": (lambda f: (f / "config.json").write_text("{,"), r"config\.json.*line 1"),
    "auto_map": (lambda f: edit(f, auto_map={"AutoModel": "a.B"}), "auto_map"),
    "family": (lambda f: edit(f, model_type="mamba"), "model_type.*'mamba'"),
    "scaling": (lambda f: edit(f, rope_scaling={"type": "su"}), "rope_scaling.type.*'su'"),
    "truncated": (lambda f: truncate(f / "model.safetensors"), r"model\.safetensors"),
    "empty": (lambda f: (f / "model.safetensors").write_bytes(b""), r"model\.safetensors"),
    "pickle": (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "pytorch_model.bin"),
    "NaN": (write_nan, "layers.1.mlp.up_proj.weight"),
    "shapes": (lambda f: edit(f, intermediate_size=40), "(gate|up|down)_proj.weight"),
    "layers missing": (lambda f: edit(f, num_hidden_layers=3), "model.layers.2"),
    "layers extra": (lambda f: edit(f, num_hidden_layers=1), "model.layers.1"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json"),
    "bad tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "tokenizer.json"),
    "bad template": (lambda f: (f / "chat_template.jinja").write_text("{% if %}"), "template"),
    "end token": (end_beyond, "320"),
    "no folder": (lambda f: shutil.rmtree(f), "checkpoint folder"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_named(checkpoint: Callable[..., Path], check: Check, what: str) -> None:
    import re

    damage, message = BROKEN[what]
    folder = checkpoint()
    damage(folder)
    result = check(folder, "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert not found["passed"]
    assert any(re.search(message, problem) for problem in found["problems"]), found["problems"]
    assert "Traceback" not in result.err


def test_a_missing_shard(checkpoint: Callable[..., Path], check: Check) -> None:
    folder = checkpoint(shard="20KB")
    next(folder.glob("model-00002-of-*.safetensors")).unlink()
    result = check(folder)
    assert result.code == 1 and "model-00002-of" in result.err
    assert "FAIL" in result.out


def test_a_tokenizer_that_does_not_fit(checkpoint: Callable[..., Path], check: Check) -> None:
    result = check(checkpoint(vocab_size=200, eos_token_id=3))
    assert result.code == 1
    assert all(part in result.err for part in ("tokenizer", "257", "200"))


def test_another_arithmetic_is_found(
    checkpoint: Callable[..., Path], check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(folder: Path, **how: Any) -> Decoder:
        model = load_decoder(folder, **how)
        dict(model.named_parameters())["blocks.1.mlp.down.weight"].neg_()
        return model

    monkeypatch.setattr(model_check, "load_decoder", other)
    result = check(checkpoint())
    assert result.code == 1
    assert "transformers" in result.err
    assert "greedy token" in result.err


def test_a_cache_that_forgets_is_found(
    checkpoint: Callable[..., Path], check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(Decoder):
        def new_cache(self, batch: int, capacity: int) -> Any:
            cache = super().new_cache(batch, capacity)
            read = cache.append

            def append(layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
                found = read(layer, keys, values)
                cache.values[layer, :, :, 0] = 0.0
                return found

            cache.append = append  # type: ignore[method-assign]
            return cache

    def other(folder: Path, **how: Any) -> Decoder:
        model = load_decoder(folder, **how)
        model.__class__ = Forgetful
        return model

    monkeypatch.setattr(model_check, "load_decoder", other)
    result = check(checkpoint())
    assert result.code == 1 and "token by token on the cache, the logits differ" in result.err
    assert "in a padded batch" not in result.err  # that pass has no cache


def test_too_large_for_the_memory(
    checkpoint: Callable[..., Path], check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.hardware.memory.available_bytes", lambda device: 1000)
    result = check(checkpoint())
    assert result.code == 1 and all(part in result.err for part in ("float32", "cpu", "GB"))


def test_logits_that_are_not_finite(checkpoint: Callable[..., Path], check: Check) -> None:
    from safetensors.torch import load_file, save_file

    folder = checkpoint()
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] *= 60000 / tensors["lm_head.weight"].abs().max()
    save_file(tensors, folder / "model.safetensors")
    result = check(folder, "--dtype", "float16")
    assert result.code == 1 and "dtype" in result.err


@pytest.mark.parametrize("arguments", [(), ("a", "--dtype", "int4"), ("a", "b")])
def test_usage(check: Check, arguments: tuple[str, ...]) -> None:
    assert check(*arguments).code == 2
