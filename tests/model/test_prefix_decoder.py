"""The embedded reader's file: what is written comes back, and damage is found before it answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.checkpoints.minilm import minilm_folder, minilm_word_embeddings
from model.checkpoints.tokenizer import Tokenizer
from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory
from model.errors import ModelError
from model.reader.prefix_decoder import (
    CONFIG,
    FIRST_COPYABLE_ID,
    WEIGHTS,
    continue_from,
    load_prefix_decoder,
    prefix_decoder_fingerprint,
    save_prefix_decoder,
    warm_start,
)


@pytest.fixture(scope="module")
def model() -> Decoder:
    return warm_start(3, num_layers=1)


@pytest.fixture
def folder(model: Decoder, tmp_path: Path) -> Path:
    save_prefix_decoder(model, tmp_path / "reader", {"rows": 7})
    return tmp_path / "reader"


def test_it_comes_back_within_half_precision(model: Decoder, folder: Path) -> None:
    loaded = load_prefix_decoder(folder)
    assert not loaded.training
    assert not any(p.requires_grad for p in loaded.parameters())
    theirs = loaded.state_dict()
    for name, tensor in model.state_dict().items():
        assert theirs[name].dtype == torch.float32
        expected = tensor if name == "embedding.weight" else tensor.half().float()
        assert torch.equal(theirs[name], expected), name
    assert sum(path.stat().st_size for path in folder.iterdir()) < 8_000_000  # no word embeddings (23 MB) in it
    assert json.loads((folder / CONFIG).read_text())["rows"] == 7


def test_it_reads_and_copies(folder: Path) -> None:
    loaded = load_prefix_decoder(folder)
    ids = torch.tensor([[101, 2040, 2003, 2045, 102]])
    with torch.inference_mode():
        hidden = loaded(ids)
        found = loaded.next_token(hidden[:, -1], HeadMemory(hidden, ids, ids >= FIRST_COPYABLE_ID))
    assert found.logprobs.exp().sum() == pytest.approx(1, abs=1e-4)
    assert found.copy is not None
    assert found.copy[0, [0, 4]].tolist() == [0, 0]  # markers are never copied
    assert (found.copy[0, 1:4] > 0).all()


def test_no_text_is_encoded_to_what_is_not_copyable() -> None:
    tokenizer = Tokenizer(minilm_folder() / "tokenizer.json")
    for token_id in (101, 102, 103, 0, 1, 50, 99):
        assert token_id < FIRST_COPYABLE_ID
        assert token_id not in tokenizer.encode(tokenizer.token(token_id)).token_ids


def test_the_warm_start_depends_on_its_seed_and_disturbs_no_other(model: Decoder) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    again, other = warm_start(3, num_layers=1).state_dict(), warm_start(4, num_layers=1).state_dict()
    assert torch.equal(torch.rand(3), expected)
    mine = model.state_dict()
    assert all(torch.equal(mine[name], again[name]) for name in mine)
    assert not torch.equal(mine["head.query.weight"], other["head.query.weight"])
    assert torch.equal(other["embedding.weight"], minilm_word_embeddings())
    assert not model.embedding.weight.requires_grad


def test_a_trained_reader_can_be_trained_further(folder: Path) -> None:
    again = continue_from(folder)
    assert again.training
    assert [name for name, p in again.named_parameters() if not p.requires_grad] == ["embedding.weight"]
    assert torch.equal(again.positions.weight, load_prefix_decoder(folder).positions.weight)  # type: ignore[union-attr]


def test_damage_is_named(folder: Path, tmp_path: Path) -> None:
    first = prefix_decoder_fingerprint(folder)
    weights, config = folder / WEIGHTS, folder / CONFIG
    good, facts = weights.read_bytes(), config.read_text()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    weights.write_bytes(flipped)
    assert prefix_decoder_fingerprint(folder) != first
    with pytest.raises(ModelError, match=r"reader.safetensors.*SHA-256"):
        load_prefix_decoder(folder)
    weights.write_bytes(good)
    for broken in ("{", "[]", "{}"):
        config.write_text(broken)
        with pytest.raises(ModelError, match=r"reader.json"):
            load_prefix_decoder(folder)
    config.unlink()
    with pytest.raises(ModelError, match=r"reader.json"):
        load_prefix_decoder(folder)
    config.write_text(facts)
    weights.unlink()
    with pytest.raises(ModelError, match=r"reader.safetensors"):
        load_prefix_decoder(folder)


def test_another_models_tensors_do_not_fit(folder: Path) -> None:
    from safetensors.torch import save_file

    from model.checkpoints.files import sha256_of

    save_file({"positions.weight": torch.zeros(3, 4), "extra": torch.zeros(1)}, folder / WEIGHTS)
    facts = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**facts, "weights_sha256": sha256_of(folder / WEIGHTS)}))
    with pytest.raises(ModelError, match=r"reader.safetensors.*Missing") as caught:
        load_prefix_decoder(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
