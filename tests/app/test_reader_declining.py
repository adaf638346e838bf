"""Fitting of a reader's declining, after its training and separately."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import app.training.reader.decline_fitting as decline_fitting
from app.errors import AppError
from app.training.reader.training import ReaderRecipe, TrainedReader, train_reader
from generation.reader.rows import RowMix
from model.reader.prefix_decoder import load_prefix_decoder


def silent(text: str) -> None:
    """Discard progress."""


def _many(folder: Path, articles: int) -> Path:
    """Return articles whose passages fit completely into the context, with a third of the questions unanswerable."""
    lines = []
    for n in range(articles):
        context = f"Lamp {n} of the harbour was drawn by Ada Thorne in {1800 + n}. It stands {30 + n} metres high."
        base = {"title": f"Lamp {n}", "context": context, "source": "lamps"}
        lines += [
            {**base, "question": f"When was lamp {n} drawn?", "answers": [str(1800 + n)]},
            {**base, "question": f"How high is lamp {n}?", "answers": [f"{30 + n} metres"]},
            {**base, "question": f"Who paid for lamp {n}?", "answers": [], "answerable": False},
        ]
    path = folder / "lamps.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def _few_are_enough(
    monkeypatch: pytest.MonkeyPatch, least: int, folder: Path, *, articles: int = 48, development: int = 40
) -> ReaderRecipe:
    monkeypatch.setattr(decline_fitting, "LEAST_ROWS", least)
    monkeypatch.setattr(decline_fitting, "LEAST_HELD_OUT", development // 4)
    recipe = ReaderRecipe((_many(folder, articles),), development=development, mix=RowMix(alone=1.0, without_gold=0.0))
    return replace(recipe, settings=replace(recipe.settings, max_steps=1, tokens_per_batch=2000))


Fitted = tuple[ReaderRecipe, TrainedReader, list[str]]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """A reader with one layer and twelve articles, two of which are held out."""
    folder, messages = tmp_path_factory.mktemp("fitted"), list[str]()
    with pytest.MonkeyPatch.context() as patch:
        recipe = _few_are_enough(patch, 10, folder, articles=12, development=6)
        small = replace(recipe, num_layers=1, settings=replace(recipe.settings, tokens_per_batch=600))
        return small, train_reader(small, folder / "first", notify=messages.append), messages


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decline_fitting, "LEAST_ROWS", 10)
    monkeypatch.setattr(decline_fitting, "LEAST_HELD_OUT", 1)


@pytest.mark.drill
def test_when_it_declines_is_fitted_behind_the_training(fitted: Fitted, tmp_path: Path) -> None:
    recipe, first, messages = fitted
    assert first.declining is not None
    assert first.declining.used == "fitted"
    assert any(f"{first.declining.rows} rows" in line for line in messages)
    facts = json.loads((first.folder / "reader.json").read_text())
    assert facts["features"]["decline"] == 32
    assert facts["declining"]["loss_after"] == first.declining.loss_after < facts["declining"]["loss_before"]
    shutil.copytree(first.folder, tmp_path / "first")
    without = train_reader(replace(recipe, decline_rows=0, development=0), tmp_path / "first", notify=silent)
    assert without.training is not None and without.training.resumed_at == 1
    assert without.declining is None
    assert load_prefix_decoder(tmp_path / "first").config.decline == 0


@pytest.mark.drill
@pytest.mark.usefixtures("few_rows")
def test_it_is_fitted_anew_without_training(fitted: Fitted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, first, _ = fitted
    train_reader(replace(recipe, decline_rows=0, development=0), tmp_path / "plain", notify=silent)
    only = replace(recipe, start=tmp_path / "plain", only_decline=True, decline_rows=24)
    again = train_reader(only, tmp_path / "again", notify=silent)
    assert again.training is None
    assert again.declining is not None
    assert (again.declining.rows, again.declining.used) == (24, "fitted")
    before, after = (load_prefix_decoder(folder).state_dict() for folder in (first.folder, again.folder))
    assert set(after) == set(before)
    assert {name for name in after if not torch.equal(after[name], before[name])} == {
        f"head.decline.{part}" for part in ("inner.weight", "inner.bias", "outer.weight", "outer.bias", "scale")
    }
    monkeypatch.setattr(decline_fitting, "LEAST_ROWS", 400)
    with pytest.raises(AppError, match="--start"):
        train_reader(replace(only, start=tmp_path / "again"), tmp_path / "none", notify=silent)
    assert not (tmp_path / "none").exists()


@pytest.mark.drill
@pytest.mark.usefixtures("few_rows")
def test_the_best_correction_of_all_is_the_one_that_is_written(fitted: Fitted, tmp_path: Path) -> None:
    recipe, first, _ = fitted
    other = train_reader(replace(recipe, start=first.folder, decline_rows=10), tmp_path / "other", notify=silent)
    found = other.declining
    assert found is not None and found.loss_begun is not None
    losses = {"none": found.loss_before, "fitted": found.loss_after, "begun": found.loss_begun}
    assert found.used == min(losses, key=lambda name: losses[name]) != "none"
    states = (load_prefix_decoder(folder).state_dict() for folder in (first.folder, other.folder))
    one, two = (state["head.decline.inner.weight"] for state in states)
    assert torch.equal(one, two) == (found.used == "begun")


@pytest.mark.drill
def test_when_it_declines_is_fitted_behind_the_training_and_anew_at_full_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recipe = _few_are_enough(monkeypatch, 40, tmp_path)
    messages: list[str] = []
    first = train_reader(recipe, tmp_path / "first", notify=messages.append)
    assert first.declining is not None
    assert first.declining.used == "fitted"  # MiniLM's layers point at nothing in particular
    assert any(f"fitted on {first.declining.rows} rows" in line for line in messages)
    facts = json.loads((tmp_path / "first" / "reader.json").read_text())
    assert facts["features"]["decline"] == 32
    assert facts["declining"]["loss_after"] == first.declining.loss_after < facts["declining"]["loss_before"]
    trained = load_prefix_decoder(tmp_path / "first").state_dict()
    without = train_reader(replace(recipe, decline_rows=0), tmp_path / "first", notify=messages.append)
    assert without.declining is None
    assert load_prefix_decoder(tmp_path / "first").config.decline == 0
    only = replace(recipe, start=tmp_path / "first", only_decline=True, decline_rows=60)
    again = train_reader(only, tmp_path / "again", notify=messages.append)
    assert again.training is None
    assert again.declining is not None
    assert (again.declining.rows, again.declining.used) == (60, "fitted")
    anew = load_prefix_decoder(tmp_path / "again").state_dict()
    assert set(anew) == set(trained)
    assert {name for name in anew if not torch.equal(anew[name], trained[name])} == {
        f"head.decline.{part}" for part in ("inner.weight", "inner.bias", "outer.weight", "outer.bias", "scale")
    }
    monkeypatch.setattr(decline_fitting, "LEAST_ROWS", 400)
    with pytest.raises(AppError, match="nothing was written"):
        train_reader(replace(only, start=tmp_path / "again"), tmp_path / "none", notify=messages.append)
    assert not (tmp_path / "none").exists()


@pytest.mark.drill
def test_going_on_from_a_reader_keeps_its_correction_where_that_is_the_better_one_at_full_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recipe = _few_are_enough(monkeypatch, 10, tmp_path)
    messages: list[str] = []
    train_reader(recipe, tmp_path / "first", notify=messages.append)
    # Ten rows tell less than all.
    other = train_reader(
        replace(recipe, start=tmp_path / "first", decline_rows=10), tmp_path / "other", notify=messages.append
    )
    assert other.declining is not None and other.declining.used == "begun"
    assert other.declining.loss_begun is not None
    assert other.declining.loss_begun < min(other.declining.loss_before, other.declining.loss_after)
    assert any("with the initial correction, which is kept" in line for line in messages)
    first, second = (load_prefix_decoder(tmp_path / name).state_dict() for name in ("first", "other"))
    assert torch.equal(first["head.decline.inner.weight"], second["head.decline.inner.weight"])
    only = replace(recipe, start=tmp_path / "other", only_decline=True, decline_rows=10)
    with pytest.raises(AppError, match="nothing was written"):
        train_reader(only, tmp_path / "none", notify=messages.append)
    assert not (tmp_path / "none").exists()
