"""The shipped decoder by its name, in every command that takes a decoder's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.cli import main
from app.errors import AppError
from app.models.generators import open_generator
from app.models.roles import model_role
from app.models.shipped_decoder import decoder_folder
from generation.causal.generator import CausalGenerator
from generation.causal.transformers_generator import TransformersGenerator
from model.checkpoints.shipped import shipped_decoder


def test_the_name_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ours = open_generator("decoder")
    assert isinstance(ours, CausalGenerator) and ours.name == "decoder"
    half = open_generator("decoder", precision="bf16")
    assert half.fingerprint != ours.fingerprint
    assert isinstance(open_generator("transformers:decoder"), TransformersGenerator)
    assert model_role("decoder") == "reader"


def test_a_folder_of_that_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert decoder_folder("decoder") == shipped_decoder()
    assert decoder_folder("elsewhere") == Path("elsewhere")
    shutil.copytree(shipped_decoder(), "decoder")
    assert decoder_folder("decoder") == Path("decoder")
    Path("decoder/config.json").unlink()
    with pytest.raises(AppError, match=r"decoder.*config\.json"):
        model_role("decoder")


@pytest.mark.drill
def test_a_query_shows_it_the_sources_and_repeats(
    small_home: Path, home_copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["query", "How long is the warranty of the Heron 4?", "--home", str(home_copy), "--json"]
    assert main([*arguments, "--model", "decoder", "--n", "2", "--temperature", "0.7"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == "decoder"
    assert len(found["answers"]) == 2 and found["sources"]
    # What was shown is in the prompt: well over the question and the instruction by themselves.
    assert all(answer["usage"]["prompt_tokens"] > 150 for answer in found["answers"])
    assert main([*arguments, "--model", "decoder", "--n", "2", "--temperature", "0.7"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert [answer["text"] for answer in again["answers"]] == [answer["text"] for answer in found["answers"]]
    assert main([*arguments, "--model", "decoder", "--precision", "int8"]) == 0


def test_it_is_checked_and_evaluated_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "check", "decoder", "--json"]) == 0
    capsys.readouterr()
    rows = [
        {"question": f"How high is lamp {n}?", "context": f"Lamp {n} is {n} metres high.", "answers": [f"{n} metres"]}
        for n in range(1, 4)
    ] + [{"question": "Who paid?", "context": "Lamp 9 is red.", "answers": [], "answerable": False}]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert main(["model", "eval", "decoder", "--data", str(file), "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["n"] == 4 and 0 <= last["f1"]["estimate"] <= 1
