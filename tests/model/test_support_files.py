"""The embedded verifier's files: what is written comes back, its use decides its name, and damage is found."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from model.checkpoints.files import sha256_of
from model.checkpoints.shipped import shipped_verifier
from model.errors import ModelError
from model.verifier.encoder import SupportEncoder, SupportFeatures, warm_start_support
from model.verifier.files import CONFIG, WEIGHTS, SupportUse, load_support, save_support

USE = SupportUse(200, 1.5, -0.25)


@pytest.fixture(scope="module")
def model() -> SupportEncoder:
    return warm_start_support(3, SupportFeatures(worst_word=False), num_layers=1)


@pytest.fixture(scope="module")
def written(model: SupportEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    save_support(model, folder, USE, {"rows": 7})
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A folder of one's own; the weights are linked, not copied: replace that file, never write into it."""
    (tmp_path / WEIGHTS).hardlink_to(written / WEIGHTS)
    shutil.copy(written / CONFIG, tmp_path / CONFIG)
    return tmp_path


def rewrite(folder: Path, **changes: object) -> None:
    (folder / CONFIG).write_text(json.dumps({**json.loads((folder / CONFIG).read_text()), **changes}))


def test_it_comes_back_within_half_precision(model: SupportEncoder, written: Path) -> None:
    loaded = load_support(written)
    assert loaded.use == USE
    assert loaded.model.features == SupportFeatures(worst_word=False)
    assert not loaded.model.training
    assert not any(p.requires_grad for p in loaded.model.parameters())
    theirs = loaded.model.state_dict()
    for name, tensor in model.state_dict().items():
        assert theirs[name].dtype == torch.float32
        assert torch.equal(theirs[name], tensor if name == "embedding.weight" else tensor.half().float()), name
    assert sum(path.stat().st_size for path in written.iterdir()) < 8_000_000  # no word embeddings (23 MB) in it
    assert json.loads((written / CONFIG).read_text())["rows"] == 7


def test_the_fingerprint_is_of_all_that_decides_the_scores(folder: Path) -> None:
    first = load_support(folder).fingerprint
    rewrite(folder, rows=8)
    assert load_support(folder).fingerprint == first  # facts decide nothing
    rewrite(folder, use=asdict(SupportUse(200, 1.5, 0.0)), calibrated_on=40)
    facts = json.loads((folder / CONFIG).read_text())
    assert (facts["rows"], facts["calibrated_on"], facts["use"]["intercept"]) == (8, 40, 0.0)
    calibrated = load_support(folder)
    rewrite(folder, features={"marks": False, "worst_word": False})
    assert len({first, calibrated.fingerprint, load_support(folder).fingerprint}) == 3


def test_missing_and_damaged_files_are_named(folder: Path) -> None:
    config = (folder / CONFIG).read_text()
    for broken in ("{", "[]", "{}", "\udc80"):
        (folder / CONFIG).write_bytes(broken.encode("utf-8", "surrogateescape"))
        with pytest.raises(ModelError, match=r"verifier.json"):
            load_support(folder)
    (folder / CONFIG).write_text(config)
    flipped = bytearray((folder / WEIGHTS).read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (folder / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=r"verifier.safetensors"):
        load_support(folder)
    (folder / WEIGHTS).write_bytes(flipped)
    with pytest.raises(ModelError, match=r"verifier.safetensors.*SHA-256"):
        load_support(folder)
    (folder / CONFIG).unlink()
    with pytest.raises(ModelError, match=r"verifier.json"):
        load_support(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": None},
        {"features": {"marks": "yes"}},
        {"features": {"marks": True, "colour": True}},
        {"use": []},
        {"use": {"window_tokens": 8}},
        {"use": {"window_tokens": 501}},
        {"use": {"window_tokens": 300.5}},
        {"use": {"window_tokens": "300"}},
        {"use": {"slope": 0.0}},
        {"use": {"slope": -1.0}},
        {"use": {"slope": math.nan}},
        {"use": {"intercept": math.inf}},
        {"use": {"intercept": "0"}},
        {"use": {"heat": 1.0}},
        {"use": {"number_lack": -1.0}},
        {"use": {"number_lack": 21}},
        {"use": {"name_lack": math.nan}},
        {"use": {"name_lack": "1"}},
        {"use": {"answer_tokens": 80}, "features": {"marks": True, "worst_word": False}},
        {"use": {"answer_tokens": -1}},
        {"use": {"answer_tokens": 161}},
        {"use": {"answer_tokens": 80.5}},
        {"use": {"answer_slope": 0.0}},
        {"use": {"answer_intercept": math.nan}},
        {"use": {"short_slope": 0.0}},
        {"use": {"short_slope": "1"}},
        {"use": {"short_slope": 1.0, "short_intercept": math.nan}},
    ],
    ids=str,
)
def test_what_the_file_says_must_make_sense(folder: Path, changes: dict[str, object]) -> None:
    rewrite(folder, **changes)
    with pytest.raises(ModelError, match=r"verifier.json"):
        load_support(folder)


def test_others_tensors_do_not_fit(folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    save_file({"positions.weight": torch.zeros(3, 4), "extra": torch.zeros(1)}, folder / WEIGHTS)
    rewrite(folder, weights_sha256=sha256_of(folder / WEIGHTS))
    with pytest.raises(ModelError, match=r"verifier.safetensors.*Missing") as caught:
        load_support(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    (folder / WEIGHTS).write_bytes(b"no tensors")
    rewrite(folder, weights_sha256=sha256_of(folder / WEIGHTS))
    with pytest.raises(ModelError, match="safetensors"):
        load_support(folder)


def test_a_verifier_that_reads_claims_alone_keeps_its_name(folder: Path) -> None:
    """Verdicts are stored under it, and how claims would be read together changes none of them."""
    rewrite(folder, use=asdict(USE))
    before = load_support(folder).fingerprint
    rewrite(folder, use=asdict(replace(USE, answer_slope=3.0, answer_intercept=1.0)))
    assert load_support(folder).fingerprint == before
    rewrite(folder, use=asdict(replace(USE, answer_tokens=80)))
    with pytest.raises(ModelError, match="could not be distinguished"):  # this one has no worst word
        load_support(folder)


def test_a_verifier_without_a_curve_for_short_answers_keeps_its_name(folder: Path) -> None:
    rewrite(folder, use=asdict(USE))
    before = load_support(folder).fingerprint
    rewrite(folder, use=asdict(replace(USE, short_intercept=1.0)))
    assert load_support(folder).fingerprint == before
    rewrite(folder, use=asdict(replace(USE, short_slope=1.0)))
    assert load_support(folder).fingerprint != before


def test_the_shipped_verifier_has_a_curve_for_each_kind_of_claim() -> None:
    """As docs/verifiers.md says: claims alone, together, and short answers."""
    use = load_support(shipped_verifier()).use
    assert use.answer_tokens == 160
    curves = {use.curve(together=t, short=s) for t, s in ((False, False), (True, False), (False, True))}
    assert len(curves) == 3 and (1.0, 0.0) not in curves
    assert use.curve(together=True, short=True) == (use.answer_slope, use.answer_intercept)
