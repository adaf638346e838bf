"""Responses as DataFrame, Parquet and OpenTelemetry documents: unknown values do not become 0.

Answers can be read back.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from data.answers import load_answers
from evaluation.errors import EvaluationError
from evaluation.exports.otlp import EVENT, HALLUCINATED, SCHEMA_URL, SUPPORT, otlp_documents
from evaluation.exports.otlp_protobuf import protobuf_bytes
from evaluation.exports.records import ExportRun
from evaluation.exports.responses import COLUMNS, JudgedResponse, run_responses, valid_ids
from evaluation.exports.tables import data_frame, write_parquet
from evaluation.outcomes import AnswerEvaluation, Claim, Label, Outcome, Verdict

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def response(outcome: Outcome, number: int = 0, support: float | None = 0.25, **fields: Any) -> JudgedResponse:
    """Return a response with one claim, or without one if support is None."""
    label: Label = "supported" if outcome == "supported" else "unverifiable"
    claim = Claim("It takes a day.", 0, 15)
    verdicts = () if support is None else (Verdict(claim, label, support, "", (), "v/1"),)
    evaluation = AnswerEvaluation(outcome, verdicts, "no evidence" if outcome == "unscored" else "")
    given: dict[str, Any] = {
        "run": "run1",
        "question_id": "q1",
        "question": "How long?",
        "answer": "It takes a day.",
        "arm": "rag",
        "contexts": ("The crossing takes an hour.", "It is free."),
        "references": ("an hour",),
    }
    created = 1_700_000_000_000_000_000
    return JudgedResponse(sample=number, evaluation=evaluation, created=created, **given | fields)


RESPONSES = (
    response("hallucinated"),
    response("supported", 1, 0.75, tokens=(10, 4)),
    response("abstained", 2, None, answer=""),
    response("unscored", 3, None, contexts=()),
)


def test_a_data_frame_has_missing_values_and_no_zeros() -> None:
    frame = data_frame(RESPONSES)
    assert tuple(frame.columns) == COLUMNS
    assert list(frame.outcome) == ["hallucinated", "supported", "abstained", "unscored"]
    assert frame.support[0] == 0.25
    assert frame.support.isna().tolist() == [False, False, True, True]
    assert frame.prompt_tokens.isna().tolist() == [True, False, True, True]
    assert frame.unsupported.tolist() == [1, 0, 0, 0]
    assert frame.contexts[0] == ["The crossing takes an hour.", "It is free."]
    assert tuple(data_frame(()).columns) == COLUMNS


def test_without_the_libraries_the_extras_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("pandas", "pyarrow", "opentelemetry.proto.collector.trace.v1.trace_service_pb2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(EvaluationError, match=r"\[pandas\]"):
        data_frame(RESPONSES)
    with pytest.raises(EvaluationError, match=r"\[parquet\]"):
        write_parquet(tmp_path / "r.parquet", RESPONSES)
    with pytest.raises(EvaluationError, match=r"\[otel\]"):
        protobuf_bytes({}, "traces")


def test_parquet_is_read_by_score_and_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    assert write_parquet(path, RESPONSES) == 4
    rows = pq.read_table(path).to_pylist()
    assert [row["support"] for row in rows] == [0.25, 0.75, None, None]
    records = load_answers([path]).records
    assert [r.answer for r in records] == ["It takes a day.", "It takes a day.", "", "It takes a day."]
    assert records[0].contexts == RESPONSES[0].contexts and records[3].contexts == ()
    assert {r.group for r in records} == {"q1"}
    assert len({(r.id, r.sample) for r in records}) == 4
    with pytest.raises(EvaluationError, match="no such folder"):
        write_parquet(tmp_path / "no such folder" / "r.parquet", RESPONSES)

    def broken() -> Any:
        yield RESPONSES[0]
        raise RuntimeError("stopped")

    before = path.read_bytes()
    with pytest.raises(RuntimeError):
        write_parquet(path, broken())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.parquet"]


def attributes(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, an event or a record."""
    return {item["key"]: next(iter(item["value"].values())) for item in holder["attributes"]}


def spans_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the spans of a document, whose schema is the pinned one."""
    (resource,) = document["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert scope["schemaUrl"] == resource["schemaUrl"] == SCHEMA_URL == "https://opentelemetry.io/schemas/1.38.0"
    return list(scope["spans"])


def test_each_response_is_a_span_with_its_results_as_events() -> None:
    first, second = otlp_documents(RESPONSES, "traces", "1.0", at_once=2)
    spans = spans_of(first) + spans_of(second)
    roots = [span for span in spans if "parentSpanId" not in span]
    assert len(roots) == 4 and len({span["spanId"] for span in spans}) == len(spans) == 7  # one has no passages
    results = [{attributes(event)["gen_ai.evaluation.name"]: attributes(event) for event in s["events"]} for s in roots]
    assert {event["name"] for span in roots for event in span["events"]} == {EVENT}
    values = [found[HALLUCINATED].get("gen_ai.evaluation.score.value") for found in results]
    assert values == [1.0, 0.0, 0.0, None]  # unscored has no value
    labels = [found[HALLUCINATED]["gen_ai.evaluation.score.label"] for found in results]
    assert labels == ["hallucinated", "supported", "abstained", "unscored"]
    assert [found.get(SUPPORT, {}).get("gen_ai.evaluation.score.value") for found in results] == [
        0.25,
        0.75,
        None,
        None,
    ]
    assert "It takes a day." in results[0][HALLUCINATED]["gen_ai.evaluation.explanation"]
    assert results[3][HALLUCINATED]["gen_ai.evaluation.explanation"] == "no evidence"
    assert spans_of(next(otlp_documents(RESPONSES, "traces", "1.0"))) == spans  # ids are derived


def test_spans_come_back_as_answers(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(json.dumps(d) for d in otlp_documents(RESPONSES, "traces", "1.0", at_once=3)))
    file = load_answers([path])
    assert [(r.question, r.answer, r.arm, r.group) for r in file.records] == [
        ("How long?", "It takes a day.", "rag", "q1")
    ] * 3
    assert file.records[0].contexts == RESPONSES[0].contexts
    assert file.records[0].references == ("an hour",)
    assert any("without an answer" in note for note in file.notes)  # the empty one


def test_an_answer_of_a_trace_gets_a_child_span_and_log_records_with_its_ids() -> None:
    traced = response("hallucinated", trace_id=TRACE, span_id=SPAN)
    (span,) = spans_of(next(otlp_documents([traced], "traces", "1.0")))
    assert (span["traceId"], span["parentSpanId"]) == (TRACE, SPAN)
    assert "input.value" not in attributes(span)
    ((resource,),) = (next(otlp_documents([traced], "logs", "1.0"))["resourceLogs"],)
    first, second = resource["scopeLogs"][0]["logRecords"]
    for record in (first, second):
        assert (record["eventName"], record["traceId"], record["spanId"]) == (EVENT, TRACE, SPAN)
    assert attributes(first)["gen_ai.evaluation.score.value"] == 1.0


@pytest.mark.parametrize(
    ("trace", "span", "valid"),
    [
        (TRACE.upper(), SPAN, True),
        ("0af76519-16cd-43dd-8448-eb211c80319c", SPAN, True),
        (TRACE, "", False),
        (TRACE[:-1], SPAN, False),
        ("0" * 32, SPAN, False),
        ("g" * 32, SPAN, False),
    ],
)
def test_ids_of_other_tools_are_used_only_if_they_are_opentelemetry_s(trace: str, span: str, valid: bool) -> None:
    assert valid_ids(trace, span) == ((TRACE, SPAN) if valid else ("", ""))


def test_the_responses_of_a_run() -> None:
    from tests.evaluation.exports.test_exports import RUN

    run: ExportRun = RUN
    responses = tuple(run_responses(run))
    assert len(responses) == len(run.samples)
    assert len({r.key for r in responses}) == len(responses)
    assert responses[0].context_documents == ("warranty", "office", "warranty")
    assert responses[0].created == 1_767_323_045_000_000_000
    assert responses[-1].answer == "" and responses[-1].tokens is None
