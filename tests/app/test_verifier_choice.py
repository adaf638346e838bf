"""Selection of verifiers on the command line: facts, human labels, a judge, simpler claims, invalid combinations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import app.models.generators
from app.cli import main
from app.errors import AppError
from app.judging.run_judge import VerifierPlan, open_judge
from app.judging.verifier_sources import VerifierSource, open_language_judge
from evaluation.verifiers.context_evidence import ContextEvidence
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import RetrievedChunk

FACTS = "subject,relation,value,cues\nHeron 4,warranty,3 years,guarantee\nHeron 4,price,240,costs|cost\n"
LONG, COST = "How long is the warranty of the Heron 4?", "What does the Heron 4 cost?"
ROWS: list[dict[str, Any]] = [
    {"question": LONG, "answer": "Three years.", "contexts": ["The warranty lasts for a decade."]},
    {"question": LONG, "answer": "The warranty of the Heron 4 lasts five years, and the Heron 4 costs 240."},
    {"question": COST, "answer": "I could not find that."},
    {"question": "Who made it?", "answer": "Odo made it."},
]

if TYPE_CHECKING:
    from app.pipeline import Pipeline


class YesToYears:
    """A generator that says yes if the claim names years, raises an error on "boom", and otherwise gives no clear
    answer.
    """

    name, fingerprint, context_length = "yes-to-years", "a" * 64, 1000

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        return Prompt(question, tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks, 1)), (), ())

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        if "boom" in prompt.question:
            raise RuntimeError("out of memory")
        reply = "Yes." if "years" in prompt.question.partition("answered:")[2] else "Hm"
        return tuple(Completion(reply, (), (), "stop", Usage(1, 1), seed) for seed in seeds)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    written = {
        "facts": ("facts.csv", FACTS),
        "answers": ("answers.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
    }
    for name, text in written.values():
        (tmp_path / name).write_text(text)
    return {kind: str(tmp_path / name) for kind, (name, _) in written.items()} | {"home": str(tmp_path / "home")}


def score(places: dict[str, str], capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    code = main(["score", places["answers"], "--home", places["home"], "--json", *more])
    text = capsys.readouterr().out
    return code, json.loads(text) if text else {}


def outcomes(places: dict[str, str], tmp_path: Path, *more: str) -> list[str]:
    target = tmp_path / "out.jsonl"
    main(["score", places["answers"], "--home", places["home"], "--answers", str(target), *more])
    return [json.loads(line)["outcome"] for line in target.read_text().splitlines()]


def test_facts_need_no_contexts_and_say_what_they_are(
    places: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = score(places, capsys, "--facts", places["facts"])
    assert (code, found["measure"], found["judged_by"]) == (0, "factuality", "facts")
    assert found["verifier"].startswith("facts/1 facts ")
    # The second names two facts, of which one supports it: --split-claims tells them apart.
    facts = ("--facts", places["facts"])
    assert outcomes(places, tmp_path, *facts) == ["supported", "supported", "abstained", "hallucinated"]
    (tmp_path / "out.jsonl").unlink()
    split = outcomes(places, tmp_path, *facts, "--split-claims")
    assert split == ["supported", "hallucinated", "abstained", "hallucinated"]
    report = tmp_path / "report.html"
    main(["score", places["answers"], "--home", places["home"], "--facts", places["facts"], "--report", str(report)])
    assert "judged by a table of facts" in report.read_text()


def test_simpler_claims_have_verdicts_of_their_own(places: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    for more, labels in (([], ["supported"]), (["--split-claims"], ["contradicted", "supported"])):
        files = ["--facts", places["facts"], "--answers", str(target)]
        main(["score", places["answers"], "--home", places["home"], *files, *more])
        row = json.loads(target.read_text().splitlines()[1])
        assert [v["label"] for v in row["verdicts"]] == labels
        for verdict in row["verdicts"]:
            claim = verdict["claim"]
            assert row["answer"][claim["start"] : claim["end"]] == claim["text"]


def test_labels_of_people(places: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "question,answer,label\n"
        f'"{LONG}",Three years.,supported\n'
        "Who made it?,Odo made it.,contradicted\n"
        "Who?,Nobody.,supported\n"
    )
    code, found = score(places, capsys, "--labels", str(labels))
    assert (code, found["judged_by"], found["unscored"]) == (0, "labels", 1)
    assert any("labels.csv" in note or "1 labels" in note for note in found["notes"])
    assert outcomes(places, tmp_path, "--labels", str(labels)) == ["supported", "unscored", "abstained", "hallucinated"]


def test_a_judge_reads_contexts(places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.models.generators, "open_generator", lambda *_, **__: YesToYears())
    rows = [{**ROWS[0]}, {**ROWS[0], "answer": "A while."}, {**ROWS[0], "answer": "boom"}, ROWS[3]]
    Path(places["answers"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert outcomes(places, tmp_path, "--judge", "x") == ["supported", "unscored", "unscored", "unscored"]
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert "yes nor no" in reasons[1] and "RuntimeError: out of memory" in reasons[2]
    assert "context" in reasons[3]


def test_one_claim_against_facts(places: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    base = ["verify", "--home", places["home"], "--json", "--facts", places["facts"]]
    assert main([*base, "The Heron 4 costs 250.", "--fail-unsupported"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["label"], found["best"][0]["text"]) == ("contradicted", "240")
    assert main([*base, "The Heron 4 costs 250.", "--tolerance", "0.05", "--fail-unsupported"]) == 0
    pairs = Path(places["home"] + ".jsonl")
    pairs.write_text('{"claim": "The Heron 4 costs 240."}\n{"claim": "..."}\n')
    capsys.readouterr()
    assert main([*base, "--pairs", str(pairs)]) == 4
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["label"] for row in rows] == ["supported", "unscored"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--verifier", "facts"], "--facts"),
        (["--facts", "x.csv", "--judge", "m"], "--judge"),
        (["--verifier", "reference", "--facts", "x.csv"], "--facts"),
        (["--facts", "x.csv", "--tolerance", "1"], "1.0"),
        (["--judge", "m", "--votes", "0"], "--votes"),
        (["--facts", "x.csv", "--together"], "--together"),
        (["--verifier", "reference", "--alone"], "--alone"),
    ],
)
def test_what_does_not_fit(
    places: dict[str, str], capsys: pytest.CaptureFixture[str], more: list[str], expected: str
) -> None:
    assert main(["score", places["answers"], "--home", places["home"], *more]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())


def test_together_is_refused_of_a_scorer_that_cannot(
    places: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["score", places["answers"], "--home", places["home"], "--verifier", "entailment"]
    assert main([*base, "--verifier-model", "token-overlap", "--together"]) == 1
    assert "token-overlap" in " ".join(capsys.readouterr().err.split())


def test_a_run_takes_facts_or_labels_without_a_collection(places: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text('{"answer": "yes", "label": "supported"}')
    nowhere = cast("Pipeline", None)  # neither is asked for anything
    facts = VerifierPlan("facts", source=VerifierSource(facts=places["facts"], split=True))
    judge = open_judge(nowhere, facts, (), None)
    assert judge.verifier.name.endswith("tolerance=0 split/1") and judge.entailment is None
    labels = VerifierPlan("labels", source=VerifierSource(labels=tmp_path / "labels.jsonl"))
    assert open_judge(nowhere, labels, (), None).verifier.name.startswith("labels/1 ")
    for choice in ("facts", "labels"):
        with pytest.raises(AppError, match=f"verifier {choice}"):
            open_judge(nowhere, VerifierPlan(choice), (), None)  # type: ignore[arg-type]
    with pytest.raises(AppError, match="nowhere"):
        open_language_judge(VerifierSource(judge="nowhere"), ContextEvidence({}), 0.5, "cpu")


def test_a_table_or_labels_that_cannot_be_read(places: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--facts", places["answers"]], ["--labels", places["facts"]], ["--facts", "none.csv"]):
        assert main(["score", places["answers"], "--home", places["home"], *more]) == 1
        assert capsys.readouterr().err
