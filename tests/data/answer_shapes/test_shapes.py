"""Answers in the layouts of Ragas, DeepEval, promptfoo and TruLens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.answer_records import AnswerRecord
from data.answers import answers_from_rows, load_answers
from data.errors import DataError

ASKED, ANSWERED = "How long is the ferry crossing?", "It takes forty minutes."
PASSAGE = "The crossing from Torsay takes forty minutes in calm weather."


def read(tmp_path: Path, name: str, document: object) -> tuple[AnswerRecord, ...]:
    """Return the answers of a JSON document."""
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return load_answers([path]).records


@pytest.mark.parametrize(
    "fields",
    [
        {"question": ASKED, "answer": ANSWERED, "contexts": [PASSAGE], "ground_truths": ["40 minutes"]},  # 0.0
        {"question": ASKED, "answer": ANSWERED, "contexts": [PASSAGE], "ground_truth": "40 minutes"},  # 0.1
        {
            "user_input": ASKED,
            "response": ANSWERED,
            "retrieved_contexts": [PASSAGE],
            "reference": "40 minutes",
            "faithfulness": 1.0,
        },
        {
            "user_input": [
                {"content": "Hello", "type": "human"},
                {"content": "Good day.", "type": "ai"},
                {"content": ASKED, "type": "human"},
                {"content": "", "type": "ai", "tool_calls": [{"name": "search", "args": {"q": "ferry"}}]},
                {"content": PASSAGE, "type": "tool"},
                {"content": ANSWERED, "type": "ai"},
            ],
            "reference": "40 minutes",
        },
        {
            "user_input": [{"content": "Hello", "type": "human"}, {"content": ASKED, "type": "human"}],
            "response": ANSWERED,
            "retrieved_contexts": [PASSAGE],
            "reference": "40 minutes",
        },
    ],
)
def test_ragas_from_its_first_version_to_conversations(fields: dict[str, Any]) -> None:
    (record,) = answers_from_rows([fields]).records
    assert (record.question, record.answer) == (ASKED, ANSWERED)
    assert record.contexts == (PASSAGE,)
    assert record.references == ("40 minutes",)


def deepeval_run() -> dict[str, Any]:
    """Return a test run with a test case, a test case without an answer, and a conversation."""
    case = {"input": ASKED, "actualOutput": ANSWERED, "expectedOutput": "40 minutes", "retrievalContext": [PASSAGE]}
    return {
        "testFile": "test_ferry.py",
        "testCases": [
            {"name": "test_case_0", "order": 0, "success": True, "metricsData": [], **case},
            {"name": "test_case_1", "order": 1, "input": "And the fare?", "context": ["The fare is 9 crowns."]},
        ],
        "conversationalTestCases": [
            {
                "name": "talk",
                "order": 0,
                "turns": [
                    {"role": "user", "content": "Hello", "order": 0},
                    {"role": "assistant", "content": "Hello!", "order": 1},
                    {"role": "user", "content": ASKED, "order": 2},
                    {"role": "assistant", "content": ANSWERED, "order": 3, "retrievalContext": [PASSAGE]},
                ],
            }
        ],
        "metricsScores": [],
    }


@pytest.mark.parametrize("name", ["run.json", "20260301_120000"])
def test_a_deepeval_run_has_an_answer_for_each_case(tmp_path: Path, name: str) -> None:
    first, second, talk = read(tmp_path, name, deepeval_run())
    assert (first.question, first.answer, first.contexts) == (ASKED, ANSWERED, (PASSAGE,))
    assert first.references == ("40 minutes",)
    assert (second.answer, second.contexts) == ("", ("The fare is 9 crowns.",))
    assert (talk.question, talk.answer, talk.contexts) == (ASKED, ANSWERED, (PASSAGE,))
    assert len({first.id, second.id, talk.id}) == 3


def test_deepeval_results_in_python_s_names(tmp_path: Path) -> None:
    case = {"name": "c", "input": ASKED, "actual_output": ANSWERED, "retrieval_context": [PASSAGE], "metrics_data": []}
    (record,) = read(tmp_path, "r.json", {"test_results": [case], "confident_link": None})
    assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))


def promptfoo_result(**fields: Any) -> dict[str, Any]:
    """Return a result of promptfoo."""
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "provider": {"id": "openai:tiny", "label": "tiny"},
        "prompt": {"raw": f"Answer: {ASKED}", "label": "short"},
        "vars": {"question": ASKED, "context": PASSAGE},
        "response": {"output": ANSWERED},
        "testCase": {"assert": [{"type": "icontains", "value": "forty"}]},
        "success": True,
        **fields,
    }


def test_promptfoo_s_results_by_provider_and_prompt(tmp_path: Path) -> None:
    other = promptfoo_result(promptIdx=1, provider={"id": "echo"}, vars={"topic": "ferries"}, testCase={})
    document = {"evalId": "e", "results": {"version": 3, "results": [promptfoo_result(), other], "stats": {}}}
    first, second = read(tmp_path, "results.json", document)
    assert (first.question, first.answer, first.contexts) == (ASKED, ANSWERED, (PASSAGE,))
    assert (first.references, first.arm) == (("forty",), "tiny")
    assert second.question == f"Answer: {ASKED}"  # no variable is named like a question
    assert (second.contexts, second.references) == ((), ())
    assert second.arm.startswith("echo")
    lines = tmp_path / "results.jsonl"
    lines.write_text("\n".join(map(json.dumps, [promptfoo_result(), other])))
    assert [r.answer for r in load_answers([lines]).records] == [ANSWERED, ANSWERED]


def test_a_failed_provider_is_named_and_may_be_skipped(tmp_path: Path) -> None:
    failed = promptfoo_result(testIdx=1, response=None, error="429 Too Many Requests")
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": [promptfoo_result(), failed]}}))
    with pytest.raises(DataError, match="429 Too Many Requests") as failure:
        load_answers([path])
    assert failure.value.parameter == "skip_bad"
    assert len(load_answers([path], skip_bad=True).records) == 1


def trulens_record(**fields: Any) -> dict[str, Any]:
    """Return a row of get_records_and_feedback. In old versions, input and output are JSON texts."""
    call = {
        "stack": [{"path": "app", "method": {"name": "query"}}, {"path": "app", "method": {"name": "retrieve"}}],
        "args": {"query": ASKED},
        "rets": [[{"page_content": PASSAGE, "metadata": {}}]],
    }
    other = {"stack": [{"method": {"name": "generate"}}], "rets": "not a passage"}
    return {
        "app_id": "ferry_v1",
        "app_name": "ferry",
        "app_version": "v1",
        "record_id": "record_1",
        "input": json.dumps(ASKED),
        "output": json.dumps(ANSWERED),
        "record_json": json.dumps({"main_input": ASKED, "main_output": ANSWERED, "calls": [call, other]}),
        "Groundedness_calls": None,
        **fields,
    }


def test_trulens_records_hold_what_was_retrieved() -> None:
    called = [{"args": {"source": [PASSAGE], "statement": ANSWERED}, "ret": 1.0}]
    bare = trulens_record(record_id="record_2", record_json="{}", Groundedness_calls=called)
    first, second = answers_from_rows([trulens_record(), bare]).records
    for record in (first, second):
        assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))
        assert record.arm == "ferry v1"
    assert first.id == "record_1"


def test_trulens_records_in_a_table_and_as_record_json(tmp_path: Path) -> None:
    import csv

    row = trulens_record()
    with (tmp_path / "records.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    (record,) = load_answers([tmp_path / "records.csv"]).records
    assert (record.question, record.answer, record.contexts) == (ASKED, ANSWERED, (PASSAGE,))
    own = json.loads(row["record_json"]) | {"record_id": "r", "app_id": "a"}
    (alone,) = read(tmp_path, "record.json", [own])
    assert (alone.question, alone.answer, alone.contexts, alone.arm) == (ASKED, ANSWERED, (PASSAGE,), "a")
