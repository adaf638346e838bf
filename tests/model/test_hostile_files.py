"""Files beside weights that no training wrote: each is named as damaged, whatever stands in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.errors import ModelError
from model.reader.prefix_decoder import load_prefix_decoder, reader_use
from model.training.state import Progress, load_state, save_state
from model.verifier.files import load_support

HOSTILE = {
    "nothing": "",
    "endless": "[" * 100_000,
    "list": "[]",
    "number": "7",
    "text": '"x"',
    "binary": "\x00\x01",
    "long number": '{"weights_sha256": ' + "9" * 5000 + "}",
}


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    return Path(shutil.copytree(shipped_reader(), tmp_path / "reader"))


@pytest.fixture
def verifier(tmp_path: Path) -> Path:
    return Path(shutil.copytree(shipped_verifier(), tmp_path / "verifier"))


@pytest.mark.parametrize("what", HOSTILE)
def test_facts_that_are_none(reader: Path, verifier: Path, what: str) -> None:
    (reader / "reader.json").write_text(HOSTILE[what], "utf-8")
    (verifier / "verifier.json").write_text(HOSTILE[what], "utf-8")
    with pytest.raises(ModelError, match=r"reader\.json"):
        load_prefix_decoder(reader)
    with pytest.raises(ModelError, match=r"verifier\.json"):
        load_support(verifier)


@pytest.mark.parametrize(
    "use", [{"temperature": 10**400}, {"null_bias": "much"}, {"temperature": None}, {"other": 1}, [1], 5, "x"]
)
def test_a_use_that_cannot_be(reader: Path, use: object) -> None:
    facts = json.loads((reader / "reader.json").read_text())
    (reader / "reader.json").write_text(json.dumps(facts | {"use": use}))
    with pytest.raises(ModelError, match=r"reader\.json"):
        reader_use(reader)


@pytest.mark.parametrize("use", [{"slope": 10**400}, {"window_tokens": "many"}, {"slope": "steep"}, [1], 5])
def test_a_verifiers_use_that_cannot_be(verifier: Path, use: object) -> None:
    facts = json.loads((verifier / "verifier.json").read_text())
    (verifier / "verifier.json").write_text(json.dumps(facts | {"use": use}))
    with pytest.raises(ModelError, match=r"verifier\.json"):
        load_support(verifier)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_checkpoint_of_training_with_other_facts_is_passed_over(tmp_path: Path, what: str) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in (3, 4):
        save_state(tmp_path, model, optimizer, Progress(step, 1.0, 0.5, False), {"rows": "a"})
        if step == 3:  # the newer one replaces it: kept aside, and put back as if the newer one had not come so far
            shutil.copytree(tmp_path / "step-0000003", tmp_path / "kept")
    (tmp_path / "kept").rename(tmp_path / "step-0000003")
    (tmp_path / "step-0000004" / "state.json").write_text(HOSTILE[what], "utf-8")
    found = load_state(tmp_path, model, optimizer, {"rows": "a"})
    assert found is not None and found.step == 3
