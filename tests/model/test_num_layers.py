"""Readers and verifiers of fewer layers than MiniLM: the number is kept in the file and checked when it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.checkpoints.minilm import minilm_prefix_decoder_state
from model.errors import ModelError
from model.reader import prefix_decoder
from model.reader.prefix_decoder import load_prefix_decoder, save_prefix_decoder, warm_start
from model.verifier import files as support_files
from model.verifier.encoder import warm_start_support
from model.verifier.files import SupportUse, load_support, save_support
from model.verifier.reader_layers import support_from_reader

WRONG = (0, -1, 7, 10**9, "2", 2.0, True, None)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    save_prefix_decoder(warm_start(0, num_layers=2), folder, {})
    return folder


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verifier")
    save_support(warm_start_support(0, num_layers=1), folder, SupportUse(200), {})
    return folder


def test_the_lowest_layers_are_kept(reader: Path, verifier: Path) -> None:
    minilm = minilm_prefix_decoder_state()
    for model, count in ((load_prefix_decoder(reader), 2), (load_support(verifier).model, 1)):
        assert model.config.num_layers == len(model.blocks) == count
        for layer in range(count):
            name = f"blocks.{layer}.mlp.up.weight"
            assert torch.equal(model.state_dict()[name], minilm[name].half().float())


def test_a_verifier_that_starts_from_a_reader_has_its_layers(reader: Path) -> None:
    model = support_from_reader(reader, 7)
    assert len(model.blocks) == 2
    expected = load_prefix_decoder(reader).state_dict()["blocks.1.mlp.up.weight"]
    assert torch.equal(model.state_dict()["blocks.1.mlp.up.weight"], expected)


@pytest.mark.parametrize("count", [0, -1, 7])
def test_a_start_from_layers_that_minilm_lacks_is_refused(count: int) -> None:
    for start in (warm_start, warm_start_support):
        with pytest.raises(ModelError, match=f"{count}"):
            start(0, num_layers=count)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_file_with_a_bad_number_of_layers_is_damaged(
    reader: Path, verifier: Path, tmp_path: Path, value: object
) -> None:
    for folder, config in ((reader, prefix_decoder.CONFIG), (verifier, support_files.CONFIG)):
        for path in folder.iterdir():
            if path.name != config:
                (tmp_path / path.name).symlink_to(path)
        facts = json.loads((folder / config).read_text())
        if folder == reader:
            facts["features"]["num_layers"] = value
        else:
            facts["num_layers"] = value
        (tmp_path / config).write_text(json.dumps(facts))
    with pytest.raises(ModelError, match=prefix_decoder.CONFIG):
        load_prefix_decoder(tmp_path)
    with pytest.raises(ModelError, match=support_files.CONFIG):
        load_support(tmp_path)


def test_another_number_than_the_weights_have_does_not_fit(verifier: Path, tmp_path: Path) -> None:
    for path in verifier.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    facts = json.loads((tmp_path / support_files.CONFIG).read_text())
    (tmp_path / support_files.CONFIG).write_text(json.dumps({**facts, "num_layers": 2}))
    with pytest.raises(ModelError, match=support_files.WEIGHTS):
        load_support(tmp_path)
