"""Readers' files of both ages: one that names no features is plain and answers as it did; a new one returns whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.decoder.decoder import Decoder
from model.decoder.heads import HeadMemory
from model.errors import ModelError
from model.reader.prefix_decoder import (
    CONFIG,
    FIRST_COPYABLE_ID,
    ReaderUse,
    change_reader_use,
    load_prefix_decoder,
    prefix_decoder_fingerprint,
    reader_use,
    save_prefix_decoder,
    warm_start,
)

PROMPT = torch.tensor([[101, 2040, 2328, 2009, 102, 1, 6249, 26149, 2328, 1996, 2422, 102]])
ANSWER = torch.tensor([[26149, 2328, 1996]])


def logprobs(model: Decoder) -> torch.Tensor:
    """Of the next token after two of the answer, everything of the model's kind in use."""
    with torch.inference_mode():
        hidden = model(PROMPT)
        memory = HeadMemory(hidden, PROMPT, PROMPT >= FIRST_COPYABLE_ID, ANSWER)
        return model.next_token(hidden[:, -1], memory).logprobs


def speaking(plain: bool) -> Decoder:
    """A reader whose marks are not zero, with half-precision weights, so that they come back exactly."""
    model = warm_start(3, plain=plain, num_layers=6 if plain else 2)  # old files name no number
    with torch.no_grad():
        if model.marks is not None:
            torch.nn.init.normal_(model.marks.weight, std=0.05, generator=torch.Generator().manual_seed(0))
        for name, parameter in model.named_parameters():
            if name != "embedding.weight":
                parameter.copy_(parameter.half().float())
    return model.eval()


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder as the first release wrote it: no features and no use in its file."""
    folder = tmp_path_factory.mktemp("old")
    save_prefix_decoder(speaking(plain=True), folder, {"rows": 7})
    facts = json.loads((folder / CONFIG).read_text())
    del facts["features"]
    (folder / CONFIG).write_text(json.dumps(facts))
    return folder


def rewrite(folder: Path, **changes: object) -> None:
    (folder / CONFIG).write_text(json.dumps({**json.loads((folder / CONFIG).read_text()), **changes}))


def test_a_file_without_features_is_plain_and_answers_as_it_did(old: Path) -> None:
    loaded = load_prefix_decoder(old)
    assert loaded.marks is None
    assert loaded.head.follow is None  # type: ignore[union-attr]
    assert torch.equal(logprobs(loaded), logprobs(speaking(plain=True)))
    assert reader_use(old) == ReaderUse()


def test_a_file_with_features_comes_back_with_them(tmp_path: Path) -> None:
    model = speaking(plain=False)
    save_prefix_decoder(model, tmp_path, {})
    facts = json.loads((tmp_path / CONFIG).read_text())
    assert facts["features"] == {
        "num_layers": 2,
        "mark_separator": 102,
        "first_ordinary_id": 104,
        "follow": 3,
        "decline": 0,
    }
    loaded = load_prefix_decoder(tmp_path)
    assert loaded.config == model.config
    assert torch.equal(logprobs(loaded), logprobs(model))
    assert not torch.allclose(logprobs(loaded), logprobs(speaking(plain=True)), atol=1e-3)


def test_a_use_is_written_beside_the_weights_and_counts_in_the_fingerprint(old: Path) -> None:
    first = prefix_decoder_fingerprint(old)
    change_reader_use(old, ReaderUse(1.5, -0.5), {"calibrated": True})
    assert reader_use(old) == ReaderUse(1.5, -0.5)
    facts = json.loads((old / CONFIG).read_text())
    assert (facts["rows"], facts["calibrated"]) == (7, True)
    assert prefix_decoder_fingerprint(old) != first
    change_reader_use(old, ReaderUse(), {})
    assert prefix_decoder_fingerprint(old) == first


@pytest.mark.parametrize(
    "features",
    [
        None,
        [],
        "marks",
        {"marks": 1},
        {"hidden_size": 16},
        {"follow": "3"},
        {"follow": -1},
        {"follow": None},
        {"mark_separator": "102"},
        {"first_ordinary_id": 1.5},
    ],
    ids=str,
)
def test_damaged_features_are_named(old: Path, features: object) -> None:
    before = (old / CONFIG).read_text()
    rewrite(old, features=features)
    with pytest.raises(ModelError, match=r"reader.json"):
        load_prefix_decoder(old)
    (old / CONFIG).write_text(before)


def test_features_that_the_weights_do_not_have_are_named(old: Path) -> None:
    before = (old / CONFIG).read_text()
    rewrite(old, features={"mark_separator": 102, "follow": 3})
    with pytest.raises(ModelError, match=r"reader.safetensors.*marks.weight"):
        load_prefix_decoder(old)
    (old / CONFIG).write_text(before)


@pytest.mark.parametrize(
    "use", [[], {"temperature": 0.0}, {"temperature": "1"}, {"null_bias": float("nan")}, {"heat": 1}], ids=str
)
def test_damaged_uses_are_named(old: Path, use: object) -> None:
    before = (old / CONFIG).read_text()
    rewrite(old, use=use)
    with pytest.raises(ModelError, match=r"reader.json"):
        reader_use(old)
    (old / CONFIG).write_text(before)
