"""Training of a reader from question files to scores, with two steps that run all parts of the code."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.training.reader.training import ReaderRecipe, TrainedReader, score_reader, train_reader
from data.errors import DataError
from data.reading_examples import load_reading
from generation.decoding.params import SamplingParams
from generation.reader.reader import EmbeddedReader
from model.errors import ModelError
from model.reader.prefix_decoder import load_prefix_decoder, prefix_decoder_fingerprint
from model.training.loop import TrainProgress

LIGHTS = ("Skerry", "Hallow", "Brenn", "Tarn", "Osk", "Vell", "Marra", "Dune")
PEOPLE = ("Ada Thorne", "Ole Berg", "Ines Café", "Tom Hart", "Uma Rao", "Kit Lowe", "Jo Finch", "Max Orr")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("reading")
    lines = []
    for n, (light, person) in enumerate(zip(LIGHTS, PEOPLE, strict=True)):
        context = f"The light of {light} was drawn by {person} in {1870 + n}. It stands {30 + n} metres above the sea."
        base = {"title": f"{light} light", "context": context, "source": "lights"}
        lines += [
            {**base, "question": f"Who drew the light of {light}?", "answers": [person]},
            {**base, "question": f"When was {light} drawn?", "answers": [str(1870 + n)]},
            {**base, "question": f"Who paid for {light}?", "answers": [], "answerable": False},
        ]
    (folder / "lights.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{\n", "utf-8")
    closed = [{"question": f"Capital number {n}?", "answers": [f"City {n}"]} for n in range(8)]
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, closed)), "utf-8")
    return folder / "lights.jsonl", folder / "facts.jsonl"


def silent(text: str) -> None:
    """Discard a message."""


def recipe(files: tuple[Path, Path], **changes: object) -> ReaderRecipe:
    base = ReaderRecipe((files[0],), (files[1],), closed_book_rows=5, skip_bad=True, development=4, num_layers=1)
    small = replace(base.settings, max_steps=2, tokens_per_batch=300)
    return replace(base, **{"settings": small, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedReader, list[str]]:
    messages: list[str] = []
    steps: list[TrainProgress] = []
    folder = tmp_path_factory.mktemp("out") / "reader"
    result = train_reader(recipe(files), folder, notify=messages.append, progress=steps.append)
    assert [p.step for p in steps] == [1, 2]
    return result, messages


def test_a_reader_is_trained_written_and_scored(trained: tuple[TrainedReader, list[str]]) -> None:
    result, messages = trained
    assert result.training is not None
    assert (result.training.steps, result.training.resumed_at) == (2, 0)
    assert len(result.skipped) == 1
    assert "lights.jsonl:25:" in result.skipped[0]
    # Eight articles: the first and the seventh in order of name are held out.
    assert [int(word) for word in messages[0].split() if word.isdigit()] == [18, 6]
    assert messages[1].startswith(f"{result.rows} rows, 0.00 million tokens")
    assert 18 <= result.rows <= 18 + 5  # short contexts are used once, and five rows come without a passage
    assert [s.source for s in result.scores] == ["lights", "all"]
    assert result.scores[0].answerable + result.scores[0].unanswerable == 4


def test_the_written_reader_answers(trained: tuple[TrainedReader, list[str]]) -> None:
    folder = trained[0].folder
    facts = json.loads((folder / "reader.json").read_text())
    assert facts["recipe"]["reading"] == ["lights.jsonl"]  # names, not this machine's paths
    assert str(folder.parent) not in (folder / "reader.json").read_text()
    assert facts["rows"] == trained[0].rows
    reader = EmbeddedReader(folder)
    prompt = reader.prompt("Who drew it?", [], 8)
    assert reader.generate(prompt, SamplingParams(max_tokens=8), (0,))[0].usage.completion_tokens <= 8


@pytest.mark.drill
def test_run_again_it_resumes_and_writes_the_same(
    trained: tuple[TrainedReader, list[str]], files: tuple[Path, Path]
) -> None:
    folder = trained[0].folder
    before = (folder / "reader.safetensors").read_bytes()
    again = train_reader(recipe(files), folder, notify=silent)
    assert again.training.resumed_at == 2
    assert (folder / "reader.safetensors").read_bytes() == before
    with pytest.raises(ModelError, match="other rows"):
        train_reader(recipe(files, closed_book_rows=0), folder, notify=silent)


def test_it_goes_on_from_a_trained_reader(
    trained: tuple[TrainedReader, list[str]], files: tuple[Path, Path], tmp_path: Path
) -> None:
    start = trained[0].folder
    further = recipe(files, start=start, development=0)
    further = replace(further, settings=replace(further.settings, max_steps=1))
    assert train_reader(further, tmp_path, notify=silent).training.steps == 1
    facts = json.loads((tmp_path / "reader.json").read_text())
    assert facts["recipe"]["start"] == prefix_decoder_fingerprint(start)  # not where it lay
    assert json.loads((start / "reader.json").read_text())["recipe"]["start"] == "MiniLM"


@pytest.mark.drill
def test_a_share_of_the_start_is_in_what_is_written_and_another_share_needs_no_new_run(
    trained: tuple[TrainedReader, list[str]], files: tuple[Path, Path], tmp_path: Path
) -> None:
    start = trained[0].folder
    further = recipe(files, start=start, development=0)
    further = replace(further, settings=replace(further.settings, max_steps=1, learning_rate=1e-2))
    train_reader(further, tmp_path, notify=silent)
    run, begun = (load_prefix_decoder(folder).state_dict() for folder in (tmp_path, start))
    again = train_reader(replace(further, start_share=0.25), tmp_path, notify=silent)
    assert again.training.resumed_at == 1
    mean = load_prefix_decoder(tmp_path).state_dict()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, 0.25 * begun[name] + 0.75 * run[name], rtol=2e-3, atol=1e-6)  # fp16 files
    assert any(not torch.equal(run[name], begun[name]) for name in mean)
    assert json.loads((tmp_path / "reader.json").read_text())["recipe"]["start_share"] == 0.25


def test_what_lies_in_the_starts_folder_at_the_end_is_nothing_to_the_run(
    trained: tuple[TrainedReader, list[str]], files: tuple[Path, Path], tmp_path: Path
) -> None:
    start = tmp_path / "start"
    start.mkdir()
    for name in ("reader.json", "reader.safetensors"):
        shutil.copy(trained[0].folder / name, start)
    name = prefix_decoder_fingerprint(start)
    further = recipe(files, start=start, start_share=1.0, development=0)
    further = replace(further, settings=replace(further.settings, max_steps=1, learning_rate=1e-2))
    train_reader(further, tmp_path / "out", notify=silent, progress=lambda step: shutil.rmtree(start))
    assert json.loads((tmp_path / "out" / "reader.json").read_text())["recipe"]["start"] == name
    written, begun = (load_prefix_decoder(folder).state_dict() for folder in (tmp_path / "out", trained[0].folder))
    assert all(torch.equal(written[key], begun[key]) for key in begun)


def test_changed_questions_are_trained_on_beside_the_ones_they_were_made_from(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    long = tmp_path / "long.jsonl"
    lines = [json.loads(line) for line in files[0].read_text("utf-8").splitlines()[:-1]]
    for line in lines:
        line["context"] += " The harbour of Lindesund pays for the oil, the village of Oldehaven for the glass." * 3
    long.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    messages: list[str] = []
    chosen = recipe((long, files[1]), development=0, near_misses=1.0)
    chosen = replace(chosen, settings=replace(chosen.settings, max_steps=1))
    rows = train_reader(chosen, tmp_path / "with", notify=messages.append).rows
    plain = replace(chosen, near_misses=0.0)
    (made,) = [int(line.split()[0]) for line in messages if "with a changed question" in line]
    assert 0 < made <= 12  # the answerable ones to train on
    assert rows == train_reader(plain, tmp_path / "without", notify=messages.append).rows + made
    assert json.loads((tmp_path / "with" / "reader.json").read_text())["recipe"]["near_misses"] == 1.0


def test_scoring_alone(trained: tuple[TrainedReader, list[str]], files: tuple[Path, Path]) -> None:
    examples = load_reading([files[0]], skip_bad=True).examples[:3]
    lights, everything = score_reader(trained[0].folder, examples)
    assert (lights.answerable, lights.unanswerable) == (2, 1)
    assert everything.answers_per_second > 0
    assert score_reader(trained[0].folder, ()) == ()


def test_files_are_checked_before_anything_is_computed(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"lights.jsonl:25:.*skip such lines"):
        train_reader(recipe(files, skip_bad=False), tmp_path, notify=silent)
    with pytest.raises(DataError, match=r"none\.jsonl"):
        train_reader(recipe(files, reading=(tmp_path / "none.jsonl",)), tmp_path, notify=silent)


def test_questions_without_passages_alone_can_be_trained_on(files: tuple[Path, Path], tmp_path: Path) -> None:
    only = recipe(files, reading=(files[1],), closed_book=(), development=0)
    only = replace(only, settings=replace(only.settings, max_steps=1))
    assert train_reader(only, tmp_path, notify=silent).rows > 0


def test_of_few_rows_it_is_said_that_nothing_was_fitted(trained: tuple[TrainedReader, list[str]]) -> None:
    result, messages = trained
    assert result.declining is None
    assert any("400 rows" in line and "40 of each" in line for line in messages)
