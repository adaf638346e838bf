"""``plumbline model check`` on a reader's folder: the shipped reader, a new one, and damaged ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from app.cli import main
from model.checkpoints.files import sha256_of
from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.reader.prefix_decoder import CONFIG, WEIGHTS, save_prefix_decoder, warm_start


@pytest.fixture(scope="module", params=[False, True])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an untrained reader, with exact-match marks or without."""
    made = tmp_path_factory.mktemp("reader")
    save_prefix_decoder(warm_start(0, plain=request.param, num_layers=1), made, {})
    return made


def test_a_reader_agrees_with_itself_in_every_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] and found["compared_with"] == "one plain pass"
    assert found["facts"]["context_length"] == 512 and found["facts"]["vocabulary"] == 30522
    assert found["facts"]["stored"] == ["F16"]
    assert max(found["split"].values()) <= found["reference"]["tolerance"]
    assert found["reference"]["equal_tokens"] == found["reference"]["tokens"] == 8


@pytest.mark.drill
def test_the_shipped_one_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", "reader"]) == 0
    lines = {line[:14].strip(): line[15:] for line in capsys.readouterr().out.splitlines()}
    assert lines["family"] == "plumbline reader (prefix decoder with a copying head), 6 layers"
    assert lines["result"] == "pass" and lines["probabilities"].startswith("temperature ")
    weights = load_file(shipped_reader() / WEIGHTS)
    parameters = 30522 * 384 + sum(tensor.numel() for tensor in weights.values())
    assert lines["parameters"] == f"{parameters:,}, head tied to the embedding"


def damaged(folder: Path, target: Path, name: str, value: float) -> None:
    """Change one number of a tensor and keep the file's recorded hash valid."""
    shutil.copytree(folder, target)
    tensors = load_file(target / WEIGHTS)
    tensors[name].view(-1)[3] = value
    save_file(tensors, target / WEIGHTS)
    facts = json.loads((target / CONFIG).read_text())
    (target / CONFIG).write_text(json.dumps(facts | {"weights_sha256": sha256_of(target / WEIGHTS)}))


def test_numbers_that_are_not_finite(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged(folder, tmp_path / "bad", "blocks.0.mlp.up.weight", float("nan"))
    assert main(["model", "check", str(tmp_path / "bad")]) == 1
    assert "non-finite" in " ".join(capsys.readouterr().err.split())


def test_what_is_not_whole_is_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(folder, bad)
    (bad / WEIGHTS).write_bytes((bad / WEIGHTS).read_bytes()[:-100])
    assert main(["model", "check", str(bad)]) == 1
    assert "SHA-256" in " ".join(capsys.readouterr().err.split())
    (bad / WEIGHTS).unlink()
    assert main(["model", "check", str(bad), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"] and WEIGHTS in found["problems"][0]


def test_a_reader_is_computed_in_float32(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", str(folder), "--dtype", "bfloat16"]) == 1
    assert "float32" in " ".join(capsys.readouterr().err.split())


def test_a_verifier_is_no_decoder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", str(shipped_verifier())]) == 1
    assert "model eval" in " ".join(capsys.readouterr().err.split())


def test_a_mistake_in_one_way_of_computing_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mistake is a cache that loses its first position."""
    from model.decoder.cache import KVCache

    append = KVCache.append

    def forgetful(self: KVCache, layer: int, keys: torch.Tensor, values: torch.Tensor) -> object:
        all_keys, all_values = append(self, layer, keys, values)
        all_keys[:, :, 0] = 0
        return all_keys, all_values

    monkeypatch.setattr(KVCache, "append", forgetful)
    assert main(["model", "check", str(folder)]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "cache" in error and "padded" not in error
