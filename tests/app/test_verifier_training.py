"""Training of a verifier from pair files to calibration, with two steps that run all parts of the code."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from app.training.verifier.calibration import score_pairs_raw
from app.training.verifier.training import TrainedVerifier, VerifierRecipe, train_verifier
from data.errors import DataError
from data.pairs import PairExample, load_pairs
from model.errors import ModelError
from model.reader.prefix_decoder import load_prefix_decoder, prefix_decoder_fingerprint, save_prefix_decoder, warm_start
from model.training.loop import TrainProgress
from model.verifier.encoder import SupportFeatures
from model.verifier.files import SupportUse, load_support
from model.verifier.scorer import SupportScorer

# Groups of these numbers are held out by the SHA-256 of their names.
HELD = (23, 54, 63)
TRAINED = tuple(range(12))
STORY = (
    "The pier of Marrow was built by Ada Thorne in 1871 and stands 34 metres above the sea. It was paid for by the "
    "town of Osk. In 1902 a storm took the northern end of it. Ole Berg rebuilt that end in stone within three years. "
    "The lamp at its head is green and is seen from twelve miles away. Visitors pay two crowns on Sundays and nothing "
    "on other days. Uma Rao keeps the gate and the register of ships."
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines: list[object] = []
    for n in (*TRAINED, *HELD):
        base = {"evidence": f"Pier {n} is {n + 30} metres long.", "source": "piers", "group": f"pier {n}"}
        lines.append({**base, "claim": f"Pier {n} is {n + 30} metres long.", "supported": True})
        lines.append({**base, "claim": f"Pier {n} was sold to Osk.", "supported": False})
    lines.append({"evidence": STORY, "claim": "The lamp is green.", "supported": True, "source": "piers", "group": "s"})
    for n in range(4):
        lines.append({"evidence": f"Boat {n} is red.", "claim": "It is red.", "supported": n > 1, "source": "boats_a"})
    path = tmp_path_factory.mktemp("pairs") / "piers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{\n", "utf-8")
    return path


def recipe(data: Path, **changes: object) -> VerifierRecipe:
    base = VerifierRecipe(
        (data,), made=3, skip_bad=True, hold_out=("boats*",), use=SupportUse(200, name_lack=0.5), num_layers=1
    )
    small = replace(base.settings, max_steps=2, tokens_per_batch=250)
    return replace(base, **{"settings": small, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedVerifier, list[str]]:
    messages: list[str] = []
    steps: list[TrainProgress] = []
    folder = tmp_path_factory.mktemp("out") / "verifier"
    result = train_verifier(recipe(data), folder, notify=messages.append, progress=steps.append)
    assert [p.step for p in steps] == [1, 2]
    return result, messages


def test_a_verifier_is_trained_written_and_scored(trained: tuple[TrainedVerifier, list[str]]) -> None:
    result, messages = trained
    assert [int(word) for word in messages[0].split() if word.isdigit()] == [25, 6, 4]
    assert (result.training.steps, result.training.resumed_at) == (2, 0)
    assert len(result.skipped) == 1
    assert "piers.jsonl:36:" in result.skipped[0]
    assert 25 < result.rows <= 28  # and claims made from the one story
    assert result.development is not None and result.unseen is not None
    assert [s.source for s in result.development.table.sources] == ["piers"]
    assert result.development.table.overall.n == 6
    assert [s.source for s in result.unseen.table.sources] == ["boats_a"]
    assert result.unseen.table.overall.n == 4


def test_the_written_verifier_is_calibrated_or_it_was_said_why_not(
    trained: tuple[TrainedVerifier, list[str]],
) -> None:
    result, messages = trained
    text = (result.folder / "verifier.json").read_text()
    facts = json.loads(text)
    use = load_support(result.folder).use
    assert (use.window_tokens, use.number_lack, use.name_lack) == (200, 0.0, 0.5)  # calibrated or not
    if result.calibration is None:  # two steps may well end below chance
        assert "calibrated" in messages[-1]
        assert (use.slope, use.intercept) == (1.0, 0.0)
    else:
        assert (use.slope, use.intercept) == (result.calibration.slope, result.calibration.intercept)
        assert facts["calibrated_on"] == 6
    assert facts["recipe"]["pairs"] == ["piers.jsonl"]  # names, not this machine's paths
    assert str(result.folder.parent) not in text
    assert facts["recipe"]["start"] == "MiniLM"
    assert facts["rows"] == result.rows


def test_replies_are_made_beside_the_claims(
    trained: tuple[TrainedVerifier, list[str]], data: Path, tmp_path: Path
) -> None:
    messages: list[str] = []
    result = train_verifier(recipe(data, replies=3, development=0, hold_out=()), tmp_path, notify=messages.append)
    assert result.rows == trained[0].rows + 4 + 3  # and the four held out there
    assert any(line.startswith("3 conversation turns") for line in messages)
    assert json.loads((tmp_path / "verifier.json").read_text())["recipe"]["replies"] == 3


def test_run_again_it_resumes_and_writes_the_same(trained: tuple[TrainedVerifier, list[str]], data: Path) -> None:
    folder = trained[0].folder
    before = {name: (folder / name).read_bytes() for name in ("verifier.safetensors", "verifier.json")}
    again = train_verifier(recipe(data), folder, notify=lambda text: None)
    assert again.training.resumed_at == 2
    assert (folder / "verifier.safetensors").read_bytes() == before["verifier.safetensors"]
    assert json.loads((folder / "verifier.json").read_text())["use"] == json.loads(before["verifier.json"])["use"]
    assert again.development is not None and trained[0].development is not None
    assert again.development.table == trained[0].development.table
    with pytest.raises(ModelError, match="other rows"):
        train_verifier(recipe(data, made=0), folder, notify=lambda text: None)


def test_it_goes_on_from_a_trained_verifier_without_any_made_or_held_out(
    trained: tuple[TrainedVerifier, list[str]], data: Path, tmp_path: Path
) -> None:
    start = trained[0].folder
    further = recipe(data, start=start, development=0, made=0, rows=5, source_cap=5, hold_out=())
    further = replace(further, settings=replace(further.settings, max_steps=1))
    messages: list[str] = []
    found = train_verifier(further, tmp_path, notify=messages.append)
    assert (found.rows, found.training.steps) == (5, 1)
    assert found.calibration is None and found.development is None and found.unseen is None
    assert "not calibrated" in messages[-1]
    facts = json.loads((tmp_path / "verifier.json").read_text())
    assert facts["recipe"]["start"] == load_support(start).fingerprint  # not where it lay


def test_it_begins_as_a_reader_of_which_no_share_can_stay(data: Path, tmp_path: Path) -> None:
    reader, start = warm_start(0, num_layers=1), tmp_path / "reader"
    with torch.no_grad():
        reader.positions.weight.add_(0.1)  # type: ignore[union-attr]  # unlike MiniLM's
    save_prefix_decoder(reader, start, {})
    further = recipe(data, start=start, check=0, development=0, made=0, rows=5, source_cap=5, hold_out=())
    further = replace(further, settings=replace(further.settings, max_steps=1))
    found = train_verifier(further, tmp_path, notify=lambda text: None)
    assert found.training.steps == 1
    facts = json.loads((tmp_path / "verifier.json").read_text())
    assert facts["recipe"]["start"] == f"reader {prefix_decoder_fingerprint(start)}"
    trained, read = load_support(tmp_path).model, load_prefix_decoder(start)
    change = trained.positions.weight - read.positions.weight
    assert 0 < change.abs().max() < 2e-3  # one step at a low rate; MiniLM's are farther off
    with pytest.raises(ModelError, match="reader"):
        train_verifier(replace(further, start_share=0.5), tmp_path / "other", notify=lambda text: None)


def test_a_share_of_the_start_is_in_what_is_written(
    trained: tuple[TrainedVerifier, list[str]], data: Path, tmp_path: Path
) -> None:
    start = trained[0].folder
    further = recipe(data, start=start, development=0, made=0, rows=5, source_cap=5, hold_out=())
    further = replace(further, settings=replace(further.settings, max_steps=1, learning_rate=1e-2))
    train_verifier(further, tmp_path, notify=lambda text: None)
    run, begun = (load_support(folder).model.state_dict() for folder in (tmp_path, start))
    again = train_verifier(replace(further, start_share=0.25), tmp_path, notify=lambda text: None)
    assert again.training.resumed_at == 1
    for name, tensor in load_support(tmp_path).model.state_dict().items():
        torch.testing.assert_close(tensor, 0.25 * begun[name] + 0.75 * run[name], rtol=2e-3, atol=1e-6)  # fp16 files
    assert any(not torch.equal(run[name], begun[name]) for name in run)
    assert json.loads((tmp_path / "verifier.json").read_text())["recipe"]["start_share"] == 0.25


def test_what_lies_in_the_starts_folder_at_the_end_is_nothing_to_the_run(
    trained: tuple[TrainedVerifier, list[str]], data: Path, tmp_path: Path
) -> None:
    start = tmp_path / "start"
    start.mkdir()
    for file in ("verifier.json", "verifier.safetensors"):
        shutil.copy(trained[0].folder / file, start)
    name = load_support(start).fingerprint
    further = recipe(
        data, start=start, start_share=1.0, check=0, development=0, made=0, rows=5, source_cap=5, hold_out=()
    )
    further = replace(further, settings=replace(further.settings, max_steps=1, learning_rate=1e-2))
    train_verifier(further, tmp_path / "out", notify=lambda text: None, progress=lambda step: shutil.rmtree(start))
    assert json.loads((tmp_path / "out" / "verifier.json").read_text())["recipe"]["start"] == name
    written, begun = (load_support(folder).model.state_dict() for folder in (tmp_path / "out", trained[0].folder))
    assert all(torch.equal(written[key], begun[key]) for key in begun)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of three sentences. The second sentence is wrong in every other answer."""
    folder = tmp_path_factory.mktemp("answers") / "lamps"
    folder.mkdir()
    numbers = range(40)  # at three in a hundred, some are held out
    sources = [{"source_id": str(n), "task_type": "qa", "source_info": f"Lamp {n} is green. {STORY}"} for n in numbers]
    lines = []
    for n in numbers:
        text = f"Lamp {n} is quite green. It is {'green' if n % 2 else 'purple'} all day. Uma Rao keeps the gate."
        spans = [] if n % 2 else [{"start": text.index("purple"), "end": text.index("purple") + 6}]
        lines.append({"id": str(n), "source_id": str(n), "labels": spans, "split": "train", "response": text})
    for name, rows in (("source_info", sources), ("response", lines)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return folder


@pytest.mark.drill
def test_claims_of_an_answer_are_trained_and_calibrated_together(answers: Path, data: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    both = recipe(data, pairs=(data, answers), balance=1.0)
    result = train_verifier(both, tmp_path / "together", notify=messages.append)
    assert any("answers whose claims are read together, as " in line for line in messages)
    use = load_support(tmp_path / "together").use
    assert use.answer_tokens == 160
    if any("claims read together are not calibrated" in line for line in messages):  # after two steps that may be
        assert (use.answer_slope, use.answer_intercept) == (use.slope, use.intercept)
    else:
        assert (use.answer_slope, use.answer_intercept) != (use.slope, use.intercept)
    assert result.development is not None
    train_verifier(replace(both, together=None), tmp_path / "alone", notify=messages.append)
    assert load_support(tmp_path / "alone").use.answer_tokens == 0
    plain = replace(both, features=SupportFeatures(worst_word=False))  # nothing would tell the claims apart
    train_verifier(plain, tmp_path / "plain", notify=messages.append)
    assert load_support(tmp_path / "plain").use.answer_tokens == 0


@pytest.mark.drill
def test_answers_are_read_once_more_against_altered_evidence(answers: Path, data: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    plain = recipe(data, pairs=(answers,), made=0, hold_out=())
    rows = train_verifier(plain, tmp_path / "plain", notify=messages.append).rows
    more = train_verifier(replace(plain, altered=1.0), tmp_path / "altered", notify=messages.append).rows
    (line,) = (line for line in messages if "read again" in line)
    read, _, total = line.split()[:3]
    assert 0 < int(read) <= int(total) < 40 and rows < more <= 2 * rows + int(read)  # answers are cut into parts
    facts = json.loads((tmp_path / "altered" / "verifier.json").read_text())
    assert facts["recipe"]["altered"] == 1.0
    train_verifier(replace(plain, pairs=(data,), altered=1.0), tmp_path / "pairs", notify=messages.append)
    assert "0 of 0 answers read again, against altered evidence" in messages


@pytest.mark.drill
def test_held_out_claims_are_scored_while_it_trains_and_change_nothing(
    answers: Path, data: Path, tmp_path: Path
) -> None:
    messages: list[str] = []
    steps: list[int] = []
    both = recipe(data, pairs=(data, answers), made=0)
    both = replace(both, settings=replace(both.settings, max_steps=5), check=2)
    train_verifier(both, tmp_path / "checked", notify=messages.append, progress=lambda p: steps.append(p.step))
    found = [line for line in messages if "AUROC on held-out claims" in line]
    assert [line.split(":")[0] for line in found] == ["the initial weights", "step 2", "step 4"]
    assert all("read separately" in line and "read in their answers" in line for line in found)
    assert len(set(found)) == 3 and steps == [1, 2, 3, 4, 5]
    messages.clear()
    train_verifier(replace(both, check=0), tmp_path / "unchecked", notify=messages.append)
    assert not any("held-out claims" in line for line in messages)
    one, other = (load_file(tmp_path / name / "verifier.safetensors") for name in ("checked", "unchecked"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_is_wrong_is_said_before_anything_is_computed(data: Path, tmp_path: Path) -> None:
    quiet = {"notify": lambda text: None}
    with pytest.raises(DataError, match=r"piers.jsonl:36:.*skip such lines"):
        train_verifier(recipe(data, skip_bad=False), tmp_path, **quiet)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"none\.jsonl"):
        train_verifier(recipe(data, pairs=(tmp_path / "none.jsonl",)), tmp_path, **quiet)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"ships.*boats_a, piers"):
        train_verifier(recipe(data, hold_out=("ships",)), tmp_path, **quiet)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no training rows"):
        train_verifier(recipe(data, hold_out=("*",)), tmp_path, **quiet)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_raw_logits_are_of_the_best_window(trained: tuple[TrainedVerifier, list[str]], data: Path) -> None:
    loaded = load_support(trained[0].folder)
    scorer = SupportScorer(replace(loaded, use=SupportUse(16)), bf16=False)
    claim = "The lamp is green."
    total, windows = PairExample(STORY, claim, True), []
    (found,) = score_pairs_raw(scorer, [total])
    for sentence in STORY.split(". "):
        windows.append(PairExample(sentence, claim, True))
    assert found >= min(score_pairs_raw(scorer, windows))
    examples = load_pairs([data], skip_bad=True).examples[:3]
    assert score_pairs_raw(scorer, [*examples, total]) == pytest.approx(
        [*score_pairs_raw(scorer, examples), found], abs=1e-5
    )
    assert score_pairs_raw(scorer, []) == ()


def test_a_plain_cross_encoder_is_trained_on_claims_that_cannot_be_read_too(data: Path, tmp_path: Path) -> None:
    """A held-out claim of characters without tokens has no logit, so calibration skips it."""
    extra = tmp_path / "odd.jsonl"
    base = {"evidence": "Pier 54 is long.", "source": "piers", "group": "pier 54", "supported": True}
    extra.write_text("\n".join(json.dumps({**base, "claim": claim}) for claim in ("\u200b\u200b", "It is long.")))
    plain = recipe(data, pairs=(data, extra), made=0, features=SupportFeatures(False, False), limit=28)
    plain = replace(plain, hold_out=(), settings=replace(plain.settings, max_steps=1))
    found = train_verifier(plain, tmp_path / "out", notify=lambda text: None)
    assert load_support(found.folder).model.features == SupportFeatures(False, False)
    assert found.development is not None
    assert [count for _, count in found.development.table.unscored] == [1]
