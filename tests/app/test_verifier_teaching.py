"""Distillation targets: the teachers' scores equal those of normal use, are stored, and are computed once."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from app.training.verifier.calibration import score_pairs_raw
from app.training.verifier.distillation import KEPT, Teachers
from app.training.verifier.training import VerifierRecipe, train_verifier
from data.pairs import PairExample
from evaluation.training_examples.verifier_rows import WindowMix, verifier_rows
from model.checkpoints.shipped import shipped_verifier
from model.errors import ModelError
from model.training.pair_rows import PairRow, RowClaim
from model.verifier.encoder import SupportFeatures, warm_start_support
from model.verifier.files import SupportUse, load_support, save_support
from model.verifier.scorer import SupportScorer
from model.verifier.tokens import SupportTokens

EXAMPLES = [
    PairExample(f"Pier {n} is {n + 30} metres long and was built of oak.", f"Pier {n} is {m} metres long.", m == n + 30)
    for n in range(4)
    for m in (n + 30, 77)
]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other")
    save_support(
        warm_start_support(5, num_layers=1), folder, SupportUse(200, slope=2.0, intercept=-0.5, number_lack=3.0), {}
    )
    return folder


def rows() -> list[PairRow]:
    return list(verifier_rows(EXAMPLES, SupportTokens(300), mix=WindowMix(5, 0.0)))


def logits(folder: Path) -> list[float]:
    loaded = load_support(folder)
    raw = score_pairs_raw(SupportScorer(loaded), EXAMPLES)
    return [loaded.use.slope * logit + loaded.use.intercept for logit in raw]


def test_a_target_lies_between_the_label_and_the_mean_of_the_teachers(other: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    distil_rows = Teachers([shipped_verifier(), other], 0.25).with_soft_targets(rows(), tmp_path, messages.append)
    both = zip(logits(shipped_verifier()), logits(other), strict=True)
    for row, example, (first, second) in zip(distil_rows, EXAMPLES, both, strict=True):
        support = 1 / (1 + math.exp(-(first + second) / 2))
        assert row.claims[0].target == pytest.approx(0.75 * example.supported + 0.25 * support, abs=5e-3)  # bf16
        assert row.claims[0].supported == example.supported
    assert [replace(r, claims=tuple(replace(c, target=None) for c in r.claims)) for r in distil_rows] == rows()
    assert "of the labels; their weight in each target is 0.25" in messages[-1]


def test_claims_read_together_have_their_own_calibration(other: Path, tmp_path: Path) -> None:
    loaded = load_support(other)
    folder = tmp_path / "together"
    save_support(loaded.model, folder, replace(loaded.use, answer_tokens=100, answer_slope=0.5, answer_intercept=4), {})
    row = rows()[0]
    end = row.claims[0].end
    several = PairRow(row.windows, (RowClaim(1, end - 3, True), RowClaim(end - 3, end, True)))
    found = Teachers([folder], 1.0).with_soft_targets([row, several], tmp_path / "out", lambda text: None)
    kept = load_file(tmp_path / "out" / KEPT)["logits"].tolist()
    assert [claim.target for r in found for claim in r.claims] == pytest.approx([1 / (1 + math.exp(-x)) for x in kept])
    alone = Teachers([other], 1.0)
    alone.with_soft_targets([row, several], tmp_path / "alone", lambda text: None)
    before = load_file(tmp_path / "alone" / KEPT)["logits"].tolist()
    assert kept[0] == pytest.approx(before[0], abs=0.05)
    assert kept[1:] == pytest.approx([0.5 * (x + 0.5) / 2 + 4 for x in before[1:]], abs=0.05)


def test_what_they_said_is_kept_and_asked_for_again_only_of_other_rows(other: Path, tmp_path: Path) -> None:
    teachers = Teachers([other], 1.0)
    first = teachers.with_soft_targets(rows(), tmp_path, lambda text: None)
    identity = {"rows": "another", "teachers": "others"}
    path = tmp_path / KEPT
    with safe_open(path, "pt") as file:
        full = file.metadata()
    save_file({"logits": torch.zeros(len(EXAMPLES), dtype=torch.float64)}, path, full)
    again = teachers.with_soft_targets(rows(), tmp_path, lambda text: None)
    assert {row.claims[0].target for row in again} == {0.5}  # read, not asked for
    for wrong in (identity, None):
        save_file({"logits": torch.zeros(len(EXAMPLES), dtype=torch.float64)}, path, wrong)
        assert teachers.with_soft_targets(rows(), tmp_path, lambda text: None) == first
    path.write_bytes(b"cut off")
    assert teachers.with_soft_targets(rows(), tmp_path, lambda text: None) == first
    fewer = teachers.with_soft_targets(rows()[:3], tmp_path, lambda text: None)
    assert [row.claims[0].target for row in fewer] == pytest.approx([r.claims[0].target for r in first[:3]], abs=5e-3)


def test_without_teachers_rows_stay_as_they_are(tmp_path: Path) -> None:
    assert Teachers([], 0.5).with_soft_targets(rows(), tmp_path, lambda text: None) == rows()
    assert not (tmp_path / KEPT).exists()


def test_no_rows_have_no_share_of_labels_to_agree_with(other: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    assert Teachers([other], 0.5).with_soft_targets([], tmp_path, messages.append) == []
    assert messages == []


def test_what_cannot_teach_is_refused_by_name(other: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"verifier\.json"):
        Teachers([tmp_path], 0.5)
    for share in (-0.1, 1.5, math.nan):
        with pytest.raises(ModelError, match="share"):
            Teachers([other], share)
    save_support(
        warm_start_support(5, SupportFeatures(worst_word=False), num_layers=1), tmp_path / "plain", SupportUse(200), {}
    )
    with pytest.raises(ModelError, match="plain"):
        Teachers([tmp_path / "plain"], 0.5)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"teachers\.safetensors"):
        Teachers([other], 0.5).with_soft_targets(rows(), tmp_path / "file", lambda text: None)


def test_a_run_names_its_teachers_and_resumes(other: Path, tmp_path: Path) -> None:
    data = tmp_path / "piers.jsonl"
    lines = [
        {"evidence": e.evidence, "claim": e.claim, "supported": e.supported, "source": "piers", "group": e.evidence}
        for e in EXAMPLES
    ]
    data.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    base = VerifierRecipe((data,), made=0, development=0, check=0, teachers=(other,), use=SupportUse(200), num_layers=1)
    recipe = replace(base, settings=replace(base.settings, max_steps=1, tokens_per_batch=300))
    found = train_verifier(recipe, tmp_path / "out", notify=lambda text: None)
    assert found.training.steps == 1
    facts = json.loads((tmp_path / "out" / "verifier.json").read_text())["recipe"]
    assert (facts["teachers"], facts["teacher_share"]) == ([load_support(other).fingerprint], 0.5)
    assert train_verifier(recipe, tmp_path / "out", notify=lambda text: None).training.resumed_at == 1
    with pytest.raises(ModelError, match="other rows"):
        train_verifier(replace(recipe, teacher_share=0.6), tmp_path / "out", notify=lambda text: None)
