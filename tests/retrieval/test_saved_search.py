"""Saved search parameters: written atomically, loaded, refused if damaged, and overridden by given values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.errors import RetrievalError
from retrieval.retrieval_params import RetrievalParams
from retrieval.saved_search import (
    SavedSearch,
    forget_search,
    save_search,
    saved_search,
    search_params,
    settings_path,
    with_given,
)

TUNED = RetrievalParams(fusion="rrf", dense_weight=0.3, rrf_constant=10.0, depth=50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings_path(tmp_path, "c").parent.mkdir(parents=True)
    return tmp_path


def test_what_is_saved_is_read_back_and_forgotten(folder: Path) -> None:
    assert saved_search(folder, "c") is None
    assert search_params(folder, "c") == RetrievalParams()
    kept = SavedSearch(TUNED, "nDCG@10 0.3 before, 0.4 cross-validated", "f" * 64)
    assert save_search(folder, "c", kept) == settings_path(folder, "c")
    assert saved_search(folder, "c") == kept
    assert search_params(folder, "c") == TUNED
    assert list(settings_path(folder, "c").parent.iterdir()) == [settings_path(folder, "c")]
    assert forget_search(folder, "c")
    assert not forget_search(folder, "c")
    assert search_params(folder, "c") == RetrievalParams()


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '"x"',
        json.dumps({**SavedSearch(TUNED, "").to_json(), "format": 2}),
        json.dumps({**SavedSearch(TUNED, "").to_json(), "dense_weight": 7}),
        json.dumps({**SavedSearch(TUNED, "").to_json(), "fusion": "sum"}),
        json.dumps({**SavedSearch(TUNED, "").to_json(), "depth": "many"}),
        json.dumps({**SavedSearch(TUNED, "").to_json(), "dense_weight": float("nan")}),
    ],
)
def test_a_damaged_file_is_named_with_what_to_do(folder: Path, content: str) -> None:
    settings_path(folder, "c").write_text(content)
    with pytest.raises(RetrievalError, match=r"retrieval\.json.*remove that file"):
        saved_search(folder, "c")
    assert forget_search(folder, "c")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, TUNED),
        ({"mode": None, "fusion": None}, TUNED),
        ({"mode": "bm25"}, RetrievalParams("bm25", depth=50)),
        ({"mode": "dense", "dense_weight": 0.9}, RetrievalParams("dense", depth=50)),
        ({"dense_weight": 0.9}, RetrievalParams("hybrid", "rrf", 50, 0.9, 10.0)),
        ({"fusion": "rrf"}, TUNED),
        ({"fusion": "minmax"}, RetrievalParams("hybrid", "minmax", 50, 0.5, 60.0)),
        ({"fusion": "minmax", "dense_weight": 0.8}, RetrievalParams("hybrid", "minmax", 50, 0.8, 60.0)),
    ],
)
def test_what_is_given_wins_and_another_fusion_has_its_own_weights(
    given: dict[str, Any], expected: RetrievalParams
) -> None:
    assert with_given(TUNED, **given) == expected


def test_to_name_a_fusion_is_to_ask_for_a_hybrid() -> None:
    words = RetrievalParams(mode="bm25")
    assert with_given(words, fusion="rrf").mode == "hybrid"
    assert with_given(words, fusion="rrf", mode="dense").mode == "dense"
    with pytest.raises(ValueError, match="sum"):
        with_given(words, fusion="sum")
