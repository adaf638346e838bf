"""Exports contain everything that the other format can hold, and what can be read back is equal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.answers import load_answers
from data.questions import Question
from data.ragtruth import load_ragtruth
from evaluation.errors import EvaluationError
from evaluation.exports.inspect_log import export_inspect, inspect_log
from evaluation.exports.ragas import export_ragas
from evaluation.exports.ragtruth_spans import export_ragtruth
from evaluation.exports.records import ExportRun, select_arms
from evaluation.exports.trec import export_trec
from evaluation.outcomes import AnswerEvaluation, Claim, Label, Outcome, Verdict
from evaluation.retrieval.rankings import read_run
from evaluation.runs.records import SampleRecord
from generation.completion import Completion, Usage
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

QUESTIONS = (Question("q1", "How long?", ("three years", "3 years")), Question("q2", "Covered?"))
NOTE = "The warranty lasts for three years."


def shown(*documents: str) -> tuple[PromptChunk, ...]:
    return tuple(
        PromptChunk(n, RetrievedChunk(Chunk(d, 0, len(NOTE), NOTE), 0.5, n), 0, len(NOTE))
        for n, d in enumerate(documents, start=1)
    )


def sample(question: str, arm: str, number: int, text: str | None, outcome: Outcome, *documents: str) -> SampleRecord:
    verdicts: tuple[Verdict, ...] = ()
    if text is not None and outcome in ("supported", "hallucinated"):
        label: Label = "supported" if outcome == "supported" else "contradicted"
        support = 1.0 if outcome == "supported" else 0.0
        verdicts = (Verdict(Claim(text[2:], 2, len(text)), label, support, "", (), "v/1"),)
    completion = None if text is None else Completion(text, (7,), (-0.5,), "stop", Usage(1, 1), number)
    evaluation = AnswerEvaluation(outcome, verdicts, "why" if outcome == "unscored" else "")
    return SampleRecord(question, arm, "t=0", number, number, completion, shown(*documents), (), evaluation)


RUN = ExportRun(
    "abcdef12",
    "a run",
    "2026-01-02T03:04:05+00:00",
    "model",
    "v/1",
    "plumbline evaluate",
    QUESTIONS,
    (
        sample("q1", "rag", 0, "It lasts three years.", "supported", "warranty", "office", "warranty"),
        sample("q1", "rag", 1, "It lasts “ten” years.", "hallucinated", "warranty", "office", "warranty"),
        sample("q1", "closed_book", 0, "Ten.", "hallucinated"),
        sample("q2", "rag", 0, "I don't know.", "abstained", "office"),
        sample("q2", "rag", 1, "Perhaps.", "unscored", "office"),
        sample("q2", "closed_book", 0, None, "unscored"),
    ),
)


def test_ragas_records_come_back_as_answers(tmp_path: Path) -> None:
    written = export_ragas(RUN, tmp_path / "ragas.jsonl")
    assert (written.rows, written.left_out) == (5, 1)
    first = json.loads((tmp_path / "ragas.jsonl").read_text().splitlines()[0])
    assert first["user_input"] == "How long?" and first["reference"] == "three years"
    assert first["retrieved_contexts"] == [NOTE] * 3
    records = load_answers([tmp_path / "ragas.jsonl"]).records
    assert [(r.id, r.arm, r.sample, r.group, r.answer) for r in records] == [
        (s.question_id, s.arm, str(s.sample), s.question_id, s.completion.text) for s in RUN.samples if s.completion
    ]
    assert records[0].references == ("three years", "3 years") and records[0].contexts == (NOTE,) * 3
    assert all(r.hallucinated is None for r in records), "a verdict must not come back as a person's label"


def test_an_inspect_log_comes_back_as_answers(tmp_path: Path) -> None:
    export_inspect(RUN, tmp_path / "log.json")
    log = json.loads((tmp_path / "log.json").read_text())
    assert log == json.loads(json.dumps(inspect_log(RUN)))
    assert (log["version"], log["status"], log["eval"]["config"]["epochs"]) == (2, "success", 2)
    assert len({(s["id"], s["epoch"]) for s in log["samples"]}) == len(RUN.samples)
    assert [s["scores"]["plumbline"]["value"] for s in log["samples"]] == ["C", "I", "I", "N", "N", "N"]
    records = load_answers([tmp_path / "log.json"]).records
    assert [(r.group, r.arm, r.sample) for r in records] == [
        (s.question_id, s.arm, str(s.sample + 1)) for s in RUN.samples
    ]
    assert records[1].answer == "It lasts “ten” years." and records[1].references == QUESTIONS[0].references


def test_ragtruth_spans_come_back_where_they_were(tmp_path: Path) -> None:
    written = export_ragtruth(RUN, tmp_path / "ragtruth")
    assert (written.rows, written.left_out) == (3, 3)
    responses = load_ragtruth(tmp_path / "ragtruth").responses
    assert [(r.source_id, r.model, r.hallucinated) for r in responses] == [
        ("q1", "rag", False),
        ("q1", "rag", True),
        ("q2", "rag", False),
    ]
    text = "It lasts “ten” years."
    assert responses[1].spans == ((2, len(text)),) and responses[1].text == text
    assert responses[0].question == "How long?" and responses[0].evidence.count(NOTE) == 3
    with pytest.raises(EvaluationError, match=r"response.*abcdef12"):
        export_ragtruth(select_arms(RUN, ["closed_book"]), tmp_path / "none")


def test_a_trec_run_holds_documents_at_their_best_rank(tmp_path: Path) -> None:
    written = export_trec(RUN, tmp_path / "run.txt")
    assert (written.rows, written.left_out) == (3, 0)
    found = {q: [d.document_id for d in ranking] for q, ranking in read_run(tmp_path / "run.txt").items()}
    assert found == {"q1": ["warranty", "office"], "q2": ["office"]}
    with pytest.raises(EvaluationError, match=r"prompt.*abcdef12"):
        export_trec(select_arms(RUN, ["closed_book"]), tmp_path / "run.txt")


def test_where_it_cannot_be_written_and_what_is_not_there(tmp_path: Path) -> None:
    for export in (export_ragas, export_inspect, export_trec):
        with pytest.raises(EvaluationError, match="write"):
            export(RUN, tmp_path / "no" / "file")
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match="folder"):
        export_ragtruth(RUN, tmp_path / "file")
    with pytest.raises(EvaluationError, match=r"'oracle'.*rag, closed_book"):
        select_arms(RUN, ["oracle"])
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
