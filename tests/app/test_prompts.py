"""--prompt: the messages that a model receives, and the template as part of a run's identity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.errors import AppError
from app.models.generators import open_generator
from generation.causal.generator import CausalGenerator
from tests.gguf_files import write

LOOP = "{% for passage in passages %}{{ passage.text }}\n{% endfor %}"


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jinja"
    path.write_text(
        "{% block system %}Only yes or no.{% endblock %}{% block user %}" + LOOP + "{{ question }}{% endblock %}"
    )
    return path


def test_show_and_check(prompt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prompts", "show"]) == 0
    shown = capsys.readouterr().out
    assert "{{ question }}" in shown and "{% block system %}" in shown
    (prompt.parent / "copy.jinja").write_text(shown)
    assert main(["prompts", "check", str(prompt.parent / "copy.jinja")]) == 0
    capsys.readouterr()
    assert main(["prompts", "show", str(prompt)]) == 0
    assert "Only yes or no." in capsys.readouterr().out
    assert main(["prompts", "show", str(prompt), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["examples"]["without passages"] == {"system": "Only yes or no.", "user": "How long is the warranty?"}
    assert len(found["sha256"]) == 64


def test_a_bad_file_ends_the_command(prompt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt.write_text("{{ question.__init__.__globals__ }}")
    assert main(["prompts", "check", str(prompt)]) == 1
    assert "mine.jinja" in capsys.readouterr().err


def test_the_prompt_reaches_the_model_and_its_fingerprint(prompt: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "m.gguf").file
    plain, own = open_generator(str(file)), open_generator(str(file), prompt=str(prompt))
    assert isinstance(own, CausalGenerator)
    assert plain.fingerprint != own.fingerprint
    text = "".join(own.token_text(token) for token in own.prompt("Why?", (), 8).token_ids)
    assert "Only yes or no." in text and text.index("Only") < text.index("Why?")


def test_a_reader_takes_no_prompt(prompt: Path) -> None:
    with pytest.raises(AppError, match=r"mine\.jinja needs a language model"):
        open_generator("reader", prompt=str(prompt))
