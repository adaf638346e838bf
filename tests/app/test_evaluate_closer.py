"""``plumbline evaluate`` and ``report`` with gold evidence, forced drift and plots."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.cli import build_parser, main
from app.commands.evaluate import evaluate_and_report
from app.commands.evaluate import run as evaluate_command
from app.console import Output
from app.errors import UsageError
from app.pipeline import Pipeline
from app.settings import Settings
from evaluation.runs.run_store import RunStore
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk

QUESTIONS = (
    ("q1", "Where is the office?", "Lisbon", "office"),
    ("q2", "Where is the store?", "Porto", "office"),
    ("q3", "Where is the front desk?", "Turin", "office"),
    ("q4", "Where is the door?", "Ghent", "office"),
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = [{"id": i, "text": t, "references": [r], "relevant_document_ids": [d]} for i, t, r, d in QUESTIONS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def command(
    home_copy: Path, reader_folder: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(
            [*words, "--home", str(home_copy), *(("--model", str(reader_folder)) if words[0] == "evaluate" else ())]
        )
        output = capsys.readouterr()
        return code, output.out, output.err

    return run


@pytest.mark.drill
def test_gold_evidence_stands_beside_fetched_and_is_kept(
    command: Callable[..., tuple[int, str, str]], questions: Path, tmp_path: Path
) -> None:
    page = tmp_path / "r.html"
    ask = ("evaluate", str(questions), "--collection", "notes", "--k", "1", "--n", "2", "--max-tokens", "3",
           "--arms", "closed_book,rag", "--report", str(page))  # fmt: skip
    code, out, _ = command(*ask, "--gold-evidence", "--json")
    shown = json.loads(out)
    gold = shown["analysis"]["gold"]
    assert (code, gold["questions"], [a["arm"] for a in gold["arms"]]) == (0, 4, ["closed_book", "rag"])
    assert [(p["baseline"], p["other"], p["questions"]) for p in gold["pairs"]] == [("closed_book", "rag", 4)]
    assert gold["fetched_by"].startswith("entailment/3") and " gold k=5" in gold["gold_by"]
    assert 'id="gold"' in page.read_text("utf-8")
    # Judged once: a plain report shows it again, in words as well.
    code, out, _ = command("report", shown["run"], "--report", str(page), "--plots", str(tmp_path / "plots"))
    assert code == 0 and "gold passages" in out
    names = sorted(p.name for p in (tmp_path / "plots").iterdir())
    assert [n for n in names if n.endswith(".png")] == [n.replace(".svg", ".png") for n in names if n.endswith(".svg")]
    _, out, _ = command("report", shown["run"], "--report", str(page), "--format", "markdown")
    assert "| gold evidence | closed_book − rag | difference, gold passages |" in out


def test_gold_evidence_without_gold_passages_says_what_to_do(
    command: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"id": "q", "text": "Where is the office?", "references": ["Lisbon"]}) + "\n")
    ask = ("evaluate", str(bare), "--n", "1", "--max-tokens", "3", "--gold-evidence")
    code, _, err = command(*ask, "--collection", "notes", "--arms", "rag")
    assert code == 2 and "gold" in err and "Traceback" not in err
    code, _, err = command(*ask, "--arms", "closed_book")
    # The only collection is trusted, so that there are passages; the question names none of them.
    assert code == 2 and "gold" in err and "Traceback" not in err


@pytest.fixture
def talker(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[Any],
) -> Pipeline:
    class Talker(first_words):  # type: ignore[misc]
        """A generator that continues a given beginning, falsely if the beginning does not name the right city."""

        def continued_prompt(
            self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
        ) -> Prompt:
            prompt = self.prompt(question, chunks, max_new_tokens)
            return Prompt(prompt.question, prompt.chunks, prompt.omitted, prompt.token_ids, instructions=beginning)

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
            right = next(r for _, t, r, _ in QUESTIONS if t in prompt.question)
            wrong = prompt.instructions and right not in prompt.instructions
            later = "Pelicans founded Zeppelin." if wrong else "The office in Lisbon opens at nine."
            text = later if prompt.instructions else f"The answer is {right}. {later}"
            return tuple(Completion(text, (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)

    return make_pipeline(make_settings(home_copy), Talker())


def parsed(questions: Path, *more: str) -> Namespace:
    return build_parser().parse_args(
        ["evaluate", str(questions), "--collection", "notes", "--arms", "rag,rag+injection", "--n", "2",
         "--verifier-model", "token-overlap", *more]
    )  # fmt: skip


def test_forced_drift_and_claims_read_together_exclude_each_other(talker: Pipeline, questions: Path) -> None:
    with pytest.raises(UsageError, match="--forced-drift"):
        evaluate_and_report(
            parsed(questions, "--forced-drift", "--together"), Output(as_json=True), talker, "plumbline evaluate"
        )


def test_forced_drift_is_drawn_beside_the_run_and_reported(
    talker: Pipeline, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = parsed(questions, "--forced-drift", "--json", "--report", str(tmp_path / "r.html"))
    found = []
    for _ in range(2):
        assert evaluate_and_report(arguments, Output(as_json=True), talker, "plumbline evaluate") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert [a["arm"] for a in found[0]["summary"]["arms"]] == ["rag", "rag+injection"]
    (forced,) = found[0]["analysis"]["forced"]
    assert (forced["arm"], forced["found"]["questions"], forced["reason"]) == ("rag", 4, "")
    rates = {name: forced["found"][name]["default"]["rate"] for name in ("after_false", "after_true", "effect")}
    assert rates == {"after_false": 1.0, "after_true": 0.0, "effect": 1.0}
    matching = [r for r in RunStore(talker.store).list_runs() if r.name == f"forced drift of {found[0]['run']}"]
    assert [(r.status, r.samples) for r in matching] == [("finished", 4 * 3 * 2)]
    assert 'id="forced"' in (tmp_path / "r.html").read_text("utf-8")


def test_dry_run_counts_what_is_planted(
    talker: Pipeline, questions: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Held:
        def __enter__(self) -> Pipeline:
            return talker

        def __exit__(self, *error: object) -> None:
            """Do nothing, because the fixture closes the pipeline."""

    monkeypatch.setattr("app.commands.options.open_pipeline", lambda arguments: Held())
    arguments = parsed(questions, "--forced-drift", "--dry-run", "--json")
    assert evaluate_command(arguments, Output(as_json=True)) == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["cells"], counted["generations"]) == (8, 16)
    assert (counted["forced"]["cells"], counted["forced"]["generations"]) == (12, 24)
    assert RunStore(talker.store).list_runs() == ()


def test_a_generator_that_cannot_go_on_is_refused_before_anything_is_drawn(
    make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], home_copy: Path, questions: Path
) -> None:
    pipeline = make_pipeline(make_settings(home_copy))
    with pytest.raises(UsageError, match="--model"):
        evaluate_and_report(parsed(questions, "--forced-drift"), Output(as_json=False), pipeline, "")
    assert RunStore(pipeline.store).list_runs() == ()
