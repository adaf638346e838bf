"""Checkpoint folders: what is whole loads, and what is not is refused with the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.checkpoints.checkpoint import WEIGHTS, read_checkpoint
from model.checkpoints.loading import load_decoder
from model.checkpoints.source import fingerprint
from model.errors import ModelError
from tests.model.checkpoint_folders import QUERY, tensors, write, write_sharded


def assert_filled(folder: Path) -> None:
    """Every tensor stands where the decoder reads it."""
    state, stored = load_decoder(folder).state_dict(), tensors()
    assert torch.equal(state["embedding.weight"], stored["model.embed_tokens.weight"])
    assert torch.equal(state["head.weight"], stored["lm_head.weight"])
    assert torch.equal(state["final_norm.weight"], stored["model.norm.weight"])
    for layer in range(2):
        old, new = f"model.layers.{layer}.", f"blocks.{layer}."
        qkv = [stored[f"{old}self_attn.{name}_proj.weight"] for name in "qkv"]
        assert torch.equal(state[new + "attention.qkv.weight"], torch.cat(qkv))
        assert torch.equal(state[new + "attention.out.weight"], stored[old + "self_attn.o_proj.weight"])
        gate_up = [stored[f"{old}mlp.{name}_proj.weight"] for name in ("gate", "up")]
        assert torch.equal(state[new + "mlp.gate_up.weight"], torch.cat(gate_up))
        assert torch.equal(state[new + "mlp.down.weight"], stored[old + "mlp.down_proj.weight"])
        assert torch.equal(state[new + "attention_norm.weight"], stored[old + "input_layernorm.weight"])
        assert torch.equal(state[new + "mlp_norm.weight"], stored[old + "post_attention_layernorm.weight"])
    assert len(state) == 3 + 2 * 6


def test_one_file_and_shards_load(tmp_path: Path) -> None:
    assert_filled(write(tmp_path / "one"))
    assert_filled(write_sharded(tmp_path / "many"))


def test_loaded_decoder_is_ready_to_generate(tmp_path: Path) -> None:
    model = load_decoder(write(tmp_path), dtype=torch.bfloat16)
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    assert {tensor.device.type for tensor in (*model.parameters(), *model.buffers())} == {"cpu"}
    assert model.rotary is not None
    assert model.rotary.cos.dtype == torch.float32  # positions stay exact whatever the weights are
    assert model.rotary.cos[0].eq(1).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_on_disk_is_widened_exactly(tmp_path: Path, dtype: torch.dtype) -> None:
    halves = {key: tensor.to(dtype) for key, tensor in tensors().items()}
    state = load_decoder(write(tmp_path, halves)).state_dict()
    assert torch.equal(state["embedding.weight"], halves["model.embed_tokens.weight"].float())


def test_old_rotary_tables_are_ignored(tmp_path: Path) -> None:
    old = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(1)}
    assert_filled(write(tmp_path, tensors() | old))


def test_missing_folder_and_file_for_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere"):
        read_checkpoint(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"checkpoint folder"):
        read_checkpoint(tmp_path / "file")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"config\.json is missing"),
        (b'{"a": 1,\n "b" 2}', r"config\.json is not valid JSON: line 2"),
        (b"", r"config\.json is not valid JSON"),
        (b"\xff\xfe{}", r"config\.json is not valid JSON"),
        (b"[" * 100_000, r"config\.json is not valid JSON"),
        (b'{"vocab_size": ' + b"9" * 5000 + b"}", r"config\.json is not valid JSON"),
        (b"[1]", r"config\.json must hold a JSON object, not list"),
    ],
)
def test_broken_config(tmp_path: Path, content: bytes | None, message: str) -> None:
    write(tmp_path)
    (tmp_path / "config.json").unlink()
    if content is not None:
        (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ModelError, match=message):
        load_decoder(tmp_path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"auto_map": {"AutoModel": "modeling.Evil"}}, "auto_map is set: code in checkpoints is never run"),
        ({"quantization_config": {"bits": 4}}, "quantization_config is set: quantised"),
        ({"hidden_act": "relu"}, r"config\.json: hidden_act is 'relu'"),
        ({"num_key_value_heads": 3}, r"config\.json: .*cannot share 3"),
    ],
)
def test_refused_configs_name_file_and_field(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_decoder(write(tmp_path, **fields))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_pickles_are_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / WEIGHTS).rename(tmp_path / name)
    with pytest.raises(ModelError, match=f"{name}.*{WEIGHTS}"):
        load_decoder(tmp_path)


def test_no_weights_at_all(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(ModelError, match="the weights are missing"):
        load_decoder(tmp_path)


def test_swapped_tensors_are_seen_by_their_shapes(tmp_path: Path) -> None:
    content = tensors()
    up, down = (f"model.layers.0.mlp.{name}_proj.weight" for name in ("up", "down"))
    content[up], content[down] = content[down].contiguous(), content[up].contiguous()
    with pytest.raises(ModelError, match=r"down_proj.weight.*\(12, 8\)"):
        load_decoder(write(tmp_path, content))


def test_missing_unexpected_and_misshapen_keys_in_one_message(tmp_path: Path) -> None:
    content = tensors()
    del content["lm_head.weight"]
    content |= {f"extra.{number}": torch.ones(1) for number in range(7)}
    content[QUERY] = torch.ones(8, 6)
    content["model.norm.weight"] = torch.ones(8, dtype=torch.int8)
    with pytest.raises(ModelError) as caught:
        load_decoder(write(tmp_path, content))
    message = str(caught.value)
    assert str(tmp_path) in message
    assert "1 missing: lm_head.weight" in message
    assert "7 unexpected: extra.0, extra.1, extra.2, extra.3, extra.4 and 2 more" in message
    assert f"1 of the wrong shape: {QUERY} is (8, 6), the config asks for (8, 8)" in message
    assert "1 not fp32, fp16 or bf16: model.norm.weight is I8" in message


def test_a_config_of_impossible_size_takes_no_memory(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"\(13, 8\).*\(1000000000000, 8\)"):
        load_decoder(write(tmp_path, vocab_size=10**12))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hidden_size": 2**40, "head_dim": 2**40}, "tensors of impossible size"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000: more than 1,024"),
        ({"max_position_embeddings": 10**12}, "max_position_embeddings is 1000000000000: more than 4,194,304"),
        ({"vocab_size": 10**400}, "vocab_size is 1000"),
    ],
)
def test_other_impossible_sizes(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_decoder(write(tmp_path, **fields))


def test_tied_head_may_be_stored_twice_if_it_is_the_same(tmp_path: Path) -> None:
    content = tensors()
    without = {key: tensor for key, tensor in content.items() if key != "lm_head.weight"}
    same = without | {"lm_head.weight": content["model.embed_tokens.weight"].clone()}
    for number, stored in enumerate((without, same)):
        model = load_decoder(write(tmp_path / str(number), stored, tie_word_embeddings=True))
        assert "head.weight" not in model.state_dict()
    with pytest.raises(ModelError, match=r"tie_word_embeddings.*lm_head\.weight"):
        load_decoder(write(tmp_path / "different", content, tie_word_embeddings=True))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_numbers_that_are_not_finite_in_the_asked_dtype(tmp_path: Path, value: float) -> None:
    content = tensors()
    content[QUERY][3, 2] = value
    write(tmp_path, content)
    with pytest.raises(ModelError, match=f"{QUERY}.*float16"):
        load_decoder(tmp_path, dtype=torch.float16)


def test_fingerprint_changes_with_config_or_weights_only(tmp_path: Path) -> None:
    first = fingerprint(write(tmp_path / "a"))
    assert len(first) == 64
    write(tmp_path / "b")
    (tmp_path / "b" / "README.md").write_text("anything")
    assert fingerprint(tmp_path / "b") == first
    assert fingerprint(write(tmp_path / "c", rms_norm_eps=1e-5)) != first
    content = tensors()
    content[QUERY][0, 0] += 1e-3
    assert fingerprint(write(tmp_path / "d", content)) != first
    assert fingerprint(write_sharded(tmp_path / "e")) != first


def test_a_model_larger_than_the_memory_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    monkeypatch.setattr("model.hardware.memory.available_bytes", lambda device: 4000)
    with pytest.raises(ModelError, match=r"float32.*cpu"):
        load_decoder(tmp_path)
    load_decoder(tmp_path, dtype=torch.bfloat16)
