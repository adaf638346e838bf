"""Questions from the logs of several systems, and rules for personal data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from data.errors import DataError
from data.question_logs.personal_data import luhn, without_personal_data
from data.question_logs.reading import CHILD_SPAN, NO_QUESTION, read_log

ASKED = "How long is the notice period?"
USER = {"role": "user", "content": ASKED}
SYSTEM = {"role": "system", "content": "Be short."}
RECORDS: dict[str, Any] = {
    "openai request": {"model": "m", "messages": [SYSTEM, {"role": "user", "content": "Hello"}, USER]},
    "openai parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]},
    "openai batch": {"custom_id": "1", "method": "POST", "body": {"messages": [SYSTEM, USER]}},
    "logged request": {"request": {"messages": [USER]}, "response": {"choices": []}},
    "langfuse text": {"id": "t", "name": "chat", "input": ASKED, "output": "x"},
    "langfuse object": {"id": "t", "input": {"question": ASKED, "user": 3}},
    "langfuse messages": {"id": "t", "input": {"messages": [SYSTEM, USER]}},
    "langfuse text of JSON": {"id": "t", "input": json.dumps({"query": ASKED})},
    "phoenix flat": {"name": "chain", "parent_id": None, "attributes": {"input.value": ASKED}},
    "phoenix nested": {"attributes": {"input": {"value": ASKED, "mime_type": "text/plain"}}},
    "phoenix messages": {
        "attributes": {
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be short.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": ASKED,
        }
    },
    "gen_ai indexed": {"attributes": {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED}},
    "gen_ai messages": {
        "attributes": {
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}])
        }
    },
    "otlp": {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"attributes": [{"key": "input.value", "value": {"stringValue": ASKED}}]}]}]}
        ]
    },
    "langsmith": {"run_type": "chain", "inputs": {"question": ASKED}, "outputs": {"output": "x"}},
    "langsmith messages": {
        "run_type": "llm",
        "inputs": {"messages": [[{"id": ["langchain", "HumanMessage"], "kwargs": {"content": ASKED}}]]},
    },
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("layout", ["lines", "list", "export"])
def test_every_shape_gives_its_question(tmp_path: Path, name: str, layout: str) -> None:
    record = RECORDS[name]
    text = {
        "lines": json.dumps(record) + "\n" + json.dumps(record) + "\n",
        "list": json.dumps([record, record]),
        "export": json.dumps({"data": [record, record], "meta": {"page": 1}}),
    }[layout]
    path = tmp_path / "log.json"
    path.write_text(text)
    assert [logged.text for logged in read_log(path)] == [ASKED, ASKED]


def test_children_of_a_trace_are_left_out(tmp_path: Path) -> None:
    root = {"id": "1", "inputs": {"question": ASKED}}
    child = {"id": "2", "parent_run_id": "1", "inputs": {"question": ASKED}}
    path = tmp_path / "log.jsonl"
    path.write_text(f"{json.dumps(root)}\n{json.dumps(child)}\n")
    assert [(logged.text, logged.reason) for logged in read_log(path)] == [(ASKED, ""), ("", CHILD_SPAN)]


@pytest.mark.parametrize(
    "record", [{}, {"input": None}, {"messages": [SYSTEM]}, {"attributes": {"x": 1}}, {"input": 7}]
)
def test_records_without_a_question_say_so(tmp_path: Path, record: dict[str, Any]) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (logged,) = read_log(path)
    assert (logged.text, logged.reason) == ("", NO_QUESTION)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"id{separator}Question\n1{separator}{ASKED}\n2{separator}\n")
    assert [logged.text for logged in read_log(path)] == [ASKED, ""]


def test_a_table_without_a_question_names_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("when,said\n1,x\n")
    with pytest.raises(DataError, match="'said'"):
        list(read_log(path))
    assert [logged.text for logged in read_log(path, "said")] == ["x"]


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe\x00"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"log\.jsonl"):
        list(read_log(path))


def test_deep_nesting_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"input":' * 200 + "{}" + "}" * 200 + "\n")
    assert [logged.text for logged in read_log(path)] == [""]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Write to ann.lee+x@mail.example.org please", "Write to [e-mail] please"),
        ("Call +44 20 7946 0958 now", "Call [phone] now"),
        ("Call (555) 010-9999 now", "Call [phone] now"),
        ("Ring 030 901820 today", "Ring [phone] today"),
        ("My card is 4111 1111 1111 1111.", "My card is [card]."),
        ("My card is 4111-1111-1111-1112.", "My card is 4111-1111-1111-1112."),
        ("Order 5500005555555559 for a@b.co", "Order [card] for [e-mail]"),
        ("In 1961 or on 14 March 2006 at 12:30?", "In 1961 or on 14 March 2006 at 12:30?"),
        ("Does version 3.5.1 measure 1,413 units?", "Does version 3.5.1 measure 1,413 units?"),
        ("What is 2000-2010 about?", "What is 2000-2010 about?"),
        ("user@host and @name", "user@host and @name"),
    ],
)
def test_personal_data(text: str, clean: str) -> None:
    assert without_personal_data(text)[0] == clean


def test_luhn() -> None:
    assert luhn("4111111111111111")
    assert not luhn("4111111111111112")
    assert not luhn("0000000000000000")


@pytest.mark.parametrize("text", ["1-" * 5000, "a." * 5000 + "@", "+1 " * 5000, "(" * 5000])
def test_rules_are_fast_on_long_texts(text: str) -> None:
    without_personal_data(text)
