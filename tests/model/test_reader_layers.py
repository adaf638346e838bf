"""A verifier that begins as a reader: the layers are the reader's, the claim is looked for as a question is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.decoder.decoder import Decoder
from model.errors import ModelError
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from model.verifier.encoder import SupportFeatures, warm_start_support
from model.verifier.reader_layers import is_reader, support_from_reader


def written(folder: Path, *, plain: bool) -> Decoder:
    """A reader unlike MiniLM, in fp16 as it comes back."""
    torch.manual_seed(5)
    model = warm_start(3, plain=plain, num_layers=2)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name != "embedding.weight":
                parameter.add_(0.01 * torch.randn_like(parameter)).copy_(parameter.half().float())
    save_prefix_decoder(model, folder, {})
    return model


def test_the_layers_are_the_readers_and_the_heads_are_new(tmp_path: Path) -> None:
    reader = written(tmp_path, plain=False)
    made, fresh = support_from_reader(tmp_path, 7), warm_start_support(7, num_layers=2)
    theirs, own = reader.state_dict(), fresh.state_dict()
    for name, tensor in made.state_dict().items():
        if name.startswith(("dense.", "support.", "misfit.")):
            assert torch.equal(tensor, own[name]), name
        elif name != "marks.weight":
            assert torch.equal(tensor, theirs[name]), name
    marks, before = made.marks.weight, theirs["marks.weight"]
    assert torch.equal(marks[:3], before[:3])
    assert torch.equal(marks[3:6], before[:3])  # a claim's, of which a reader has learned nothing
    assert torch.equal(marks[6:], before[6:])
    trained = {name for name, parameter in made.named_parameters() if parameter.requires_grad}
    assert "embedding.weight" not in trained
    assert "blocks.0.attention.qkv.weight" in trained
    again = support_from_reader(tmp_path, 8)
    assert not torch.equal(again.dense.weight, made.dense.weight)


def test_a_reader_without_marks_leaves_them_at_zero(tmp_path: Path) -> None:
    written(tmp_path, plain=True)
    made = support_from_reader(tmp_path, 7, SupportFeatures(worst_word=False))
    assert not made.marks.weight.any()
    assert not made.features.worst_word


def test_a_reader_is_told_from_a_verifier(tmp_path: Path) -> None:
    assert is_reader(shipped_reader())
    for file in (shipped_reader() / "reader.json", shipped_verifier() / "verifier.json"):
        shutil.copy(file, tmp_path)
    assert not is_reader(tmp_path)
    assert not is_reader(shipped_verifier())
    assert not is_reader(Path("nowhere"))


def test_damage_and_layers_of_another_shape_are_named(tmp_path: Path) -> None:
    written(tmp_path, plain=False)
    (tmp_path / "reader.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"reader\.safetensors"):
        support_from_reader(tmp_path, 7)
    with pytest.raises(ModelError, match=r"support encoder.*positions"):
        warm_start_support(7, layers={"positions.weight": torch.zeros(3, 384)})
    with pytest.raises(ModelError, match=r"support encoder.*elsewhere"):
        warm_start_support(7, layers={"elsewhere": torch.zeros(3)})
    with pytest.raises(ModelError, match=r"support encoder.*embedding"):
        warm_start_support(7, layers={})
    with pytest.raises(ModelError, match=r"support encoder.*blocks\.0"):
        warm_start_support(7, layers={"marks.weight": torch.zeros(10, 384)})
