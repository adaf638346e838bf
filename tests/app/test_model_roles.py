"""Detection of a model's role by its name and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.errors import AppError
from app.models.evaluate import ModelRequest, load_verifier
from app.models.roles import model_role


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", '{"architectures": 5}', "\x00"])
def test_a_config_that_says_nothing_is_damaged(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(AppError, match=r"config\.json is damaged|neither a sequence classifier"):
        model_role(str(tmp_path))


def test_roles_are_told_without_loading_weights(tmp_path: Path) -> None:
    for name, architecture, role in (
        ("nli", "BertForSequenceClassification", "verifier"),
        ("llm", "LlamaForCausalLM", "reader"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"architectures": [architecture]}))
        assert model_role(str(tmp_path / name)) == role
    assert model_role("someone/some-nli") == "verifier"
    assert load_verifier(ModelRequest("token-overlap")).name == "token-overlap/1"
