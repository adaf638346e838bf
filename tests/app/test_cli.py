"""The command line: output, messages and exit codes, with the shipped reader and MiniLM."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import main
from app.runs.default_arms import CLOSED_BOOK_LEFT_OUT

Plumbline = Callable[..., SimpleNamespace]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "heron.md").write_text(
        "# The Heron probe\n\nThe Heron probe can be lowered to a depth of 60 metres. Its cable is 12 metres long.\n"
    )
    (folder / "leave.md").write_text("# Leave\n\nEvery employee of Skellwick receives 28 days of paid leave a year.\n")
    (folder / "café.txt").write_text("The café in Zürich opens at 7:30 and serves Šárka's walnut cake on Fridays.\n")
    return folder


@pytest.fixture(scope="module")
def home(corpus: Path, opened_encoder: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    assert main(["index", str(corpus), "--collection", "notes", "--home", str(folder)]) == 0
    return folder


@pytest.fixture
def plumbline(capsys: pytest.CaptureFixture[str], opened_encoder: object) -> Plumbline:
    def run(*arguments: str) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as error:  # argparse leaves this way
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return run


def test_index_prints_what_it_did_and_then_that_nothing_changed(
    plumbline: Plumbline, corpus: Path, tmp_path: Path
) -> None:
    first = plumbline("index", str(corpus), "--collection", "c", "--home", str(tmp_path), "--json")
    second = plumbline("index", str(corpus), "--collection", "c", "--home", str(tmp_path), "--json")
    one, two = json.loads(first.out), json.loads(second.out)
    assert (first.code, second.code) == (0, 0)
    assert (one["added"], one["rebuilt"]) == (3, True)
    assert (two["added"], two["unchanged"], two["rebuilt"]) == (0, 3, False)
    assert one["generation_hash"] == two["generation_hash"]


@pytest.mark.drill
def test_a_deleted_document_stops_answering(plumbline: Plumbline, corpus: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in corpus.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    home = str(tmp_path / "home")
    plumbline("index", str(copy), "--collection", "c", "--home", home)
    (copy / "leave.md").unlink()
    again = json.loads(plumbline("index", str(copy), "--collection", "c", "--home", home, "--json").out)
    assert (again["removed"], again["unchanged"], again["embedded"]) == (1, 2, 0)
    reply = json.loads(plumbline("query", "How many days of leave?", "--home", home, "--json").out)
    assert "leave.md" not in {source["document_id"] for source in reply["sources"]}


def test_query_answers_with_a_citation_that_points_into_the_document(
    plumbline: Plumbline, home: Path, corpus: Path
) -> None:
    ran = plumbline("query", "How long is the cable of the Heron probe?", "--home", str(home), "--json")
    result = json.loads(ran.out)
    answer = result["answers"][0]
    assert ran.code == 0
    assert "12" in answer["text"]
    (annotation,) = answer["annotations"]
    assert answer["text"][annotation["start"] : annotation["end"]] == f"[{annotation['number']}]"
    source = next(s for s in result["sources"] if s["number"] == annotation["number"])
    assert source["document_id"] == annotation["document_id"] == "heron.md"
    text = (corpus / "heron.md").read_text().split("\n", 1)[1].lstrip("\n").rstrip()
    assert text[source["start"] : source["end"]] == source["text"]
    lines = (corpus / "heron.md").read_text().split("\n")
    first = next(number for number, line in enumerate(lines, 1) if source["text"].split("\n")[0] in line)
    assert source["place"].split("-")[0] in (f"line {first}", f"lines {first}")
    shown = plumbline("query", "How long is the cable of the Heron probe?", "--home", str(home)).out
    assert f"heron.md {source['start']}-{source['end']} ({source['place']})" in shown


def test_a_query_is_repeatable_and_its_samples_differ_by_seed(plumbline: Plumbline, home: Path) -> None:
    ask = ("query", "What is served?", "--home", str(home), "--json", "--temperature", "1.5", "--n", "4")
    one, two = (json.loads(plumbline(*ask).out)["answers"] for _ in range(2))
    assert one == two
    assert len({answer["seed"] for answer in one}) == 4


def test_without_retrieval_there_are_no_sources(plumbline: Plumbline, tmp_path: Path) -> None:
    ran = plumbline("query", "Who founded Rome?", "--no-retrieval", "--home", str(tmp_path), "--json")
    result = json.loads(ran.out)
    assert ran.code == 0
    assert result["sources"] == [] and result["collection"] is None
    assert result["answers"][0]["annotations"] == []


def test_data_goes_to_stdout_and_nothing_else(plumbline: Plumbline, home: Path) -> None:
    ran = plumbline("query", "How long is the cable?", "--home", str(home))
    assert ran.code == 0 and ran.out and "\x1b" not in ran.out
    listed = plumbline("collections", "--home", str(home))
    assert listed.out.startswith("notes: 3 documents")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["query", ""], 2, "question"),
        (["query", "   "], 2, "question"),
        (["query", "x", "--k", "0"], 2, "--k 0"),
        (["query", "x", "--temperature", "-0.5"], 2, "temperature -0.5"),
        (["query", "x", "--temperature", "nan"], 2, "temperature nan"),
        (["query", "x", "--top-p", "1.5"], 2, "top_p 1.5"),
        (["query", "x", "--top-k", "0"], 2, "top_k 0"),
        (["query", "x", "--max-tokens", "0"], 2, "max_tokens 0"),
        (["query", "x", "--n", "0"], 2, "n 0"),
        (["query", "x", "--stop", ""], 2, "stop"),
        (["query", "x", "--collection", "nowhere"], 1, "notes"),
        (["query", "word " * 2000], 1, "question"),
        (["query", "x", "--max-tokens", "600"], 1, "max_tokens 600"),
        (["query", "x", "--model", "/no/such/folder"], 1, "/no/such/folder"),
        (["query", "x", "--device", "cuda"], 1, "--device cuda"),
        (["query", "x", "--device", "abacus"], 1, "abacus"),
        (["query", "x", "--mode", "psychic"], 2, "psychic"),
        (["index", "/no/such/path", "--collection", "c"], 1, "/no/such/path"),
        (["index", ".", "--collection", "../c"], 1, "../c"),
        (["index", ".", "--collection", "c", "--chunk-tokens", "0"], 2, "--chunk-tokens"),
        (["index", ".", "--collection", "c", "--limit", "0"], 2, "--limit 0"),
        (["collections", "delete"], 2, "NAME"),
        (["collections", "delete", "nowhere"], 1, "nowhere"),
        (["evaluate", "/no/such/questions.jsonl"], 1, "/no/such/questions.jsonl"),
        (["evaluate", "samples", "--arms", "closed_book,psychic"], 1, "psychic"),
        (["evaluate", "samples", "--limit", "0"], 2, "--limit 0"),
        (["evaluate", "samples", "--collection", "nowhere"], 1, "nowhere"),
        (["report", "nosuchrun"], 1, "nosuchrun"),
        (["train", "reader", "--data", "/no/such.jsonl", "--output", "/tmp/none"], 1, "/no/such.jsonl"),
        (["train", "reader", "--data", "x", "--output", "y", "--steps", "0"], 2, "--steps 0"),
        (["nonsense"], 2, "nonsense"),
        ([], 2, "COMMAND"),
    ],
)
def test_bad_input_gets_one_clear_message_and_its_exit_code(
    plumbline: Plumbline, home: Path, arguments: list[str], code: int, expected: str
) -> None:
    placed = [*arguments, "--home", str(home)] if arguments and arguments[0] != "nonsense" else arguments
    ran = plumbline(*placed)
    assert ran.code == code, ran.err
    assert all(word in ran.err for word in expected.split()), ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_refused_files_are_named_and_the_rest_is_indexed(plumbline: Plumbline, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.txt").write_text("A good text about otters.")
    (docs / "empty.txt").write_text("")
    (docs / "binary.txt").write_bytes(b"\x00\x01\x02\xff" * 50)
    (docs / "latin.txt").write_bytes("Käse und Brötchen".encode("latin-1"))
    (docs / "picture.png").write_bytes(b"\x89PNG")
    ran = plumbline("index", str(docs), "--collection", "c", "--home", str(tmp_path / "home"))
    assert ran.code == 0
    assert "c: 2 documents" in ran.out and "refused 3" in ran.out
    for name in ("empty.txt", "binary.txt", "picture.png"):
        assert name in ran.out
    assert "latin.txt" not in ran.out  # Windows-1252, read as such


def test_malformed_jsonl_names_file_and_line(plumbline: Plumbline, tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "a", "text": "One."}\n{"id": "b", "text": \n{"id": "a", "text": "Twice."}\n')
    ran = plumbline("index", str(path), "--collection", "c", "--home", str(tmp_path / "home"))
    assert ran.code == 0
    assert "docs.jsonl:2" in ran.out and "docs.jsonl:3" in ran.out


def test_nothing_to_index_is_an_error_and_the_old_index_goes_on(plumbline: Plumbline, tmp_path: Path) -> None:
    docs, home = tmp_path / "docs", str(tmp_path / "home")
    docs.mkdir()
    (docs / "a.txt").write_text("The ferry leaves at nine.")
    plumbline("index", str(docs), "--collection", "c", "--home", home)
    (docs / "a.txt").write_text("")
    ran = plumbline("index", str(docs), "--collection", "c", "--home", home)
    assert ran.code == 1 and "a.txt" in ran.err + ran.out
    assert plumbline("query", "When does the ferry leave?", "--home", home).code == 0


def test_a_damaged_index_is_refused_by_name(plumbline: Plumbline, corpus: Path, tmp_path: Path) -> None:
    plumbline("index", str(corpus), "--collection", "c", "--home", str(tmp_path))
    damaged = next(tmp_path.rglob("*.faiss"))
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(bytes(content))
    ran = plumbline("query", "How long is the cable?", "--home", str(tmp_path))
    assert ran.code == 1
    assert damaged.name in ran.err


def test_evaluate_prints_the_table_writes_the_report_and_resumes(
    plumbline: Plumbline, home: Path, tmp_path: Path
) -> None:
    questions = tmp_path / "q.jsonl"
    rows = [
        {"id": "1", "text": "How deep can the Heron probe be lowered?", "references": ["60 metres"],
         "relevant_document_ids": ["heron.md"]},
        {"id": "2", "text": "How many days of paid leave does an employee of Skellwick receive?",
         "references": ["28 days"], "relevant_document_ids": ["leave.md"]},
        {"id": "3", "text": "What does the walnut cake cost?", "answerable": False,
         "relevant_document_ids": ["café.txt"]},
    ]  # fmt: skip
    questions.write_text("\n".join(json.dumps(row) for row in rows))
    report = tmp_path / "out" / "report.html"
    ask = ("evaluate", str(questions), "--home", str(home), "--n", "2", "--report", str(report), "--json")
    first = plumbline(*ask)
    second = plumbline(*ask)
    one, two = json.loads(first.out), json.loads(second.out)
    assert first.code == 0, first.err
    assert one == two
    assert "12 of 12" in second.err
    assert [arm["arm"] for arm in one["summary"]["arms"]] == ["rag", "oracle"]
    for arm in one["summary"]["arms"]:
        shares = [arm[name]["default"]["rate"] for name in ("hallucinated", "supported", "abstained", "unscored")]
        assert sum(shares) == pytest.approx(1.0)
    page = report.read_text("utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "") and "<table" in page
    shown = plumbline("report", one["run"], "--home", str(home), "--report", str(report))
    assert "oracle" in shown.out and str(report) in shown.out and CLOSED_BOOK_LEFT_OUT in shown.err
    assert one["run"] in plumbline("report", "--home", str(home)).out
    nowhere = plumbline("report", one["run"], "--home", str(home), "--report", "/proc/nowhere/x.html")
    assert nowhere.code == 1 and "/proc/nowhere" in nowhere.err and "Traceback" not in nowhere.err


def test_the_help_of_every_command_is_declared_without_the_heavy_rooms() -> None:
    code = """
import sys
from app.cli import build_parser
build_parser().format_help()
print(sorted({"torch", "transformers", "faiss", "numba", "scipy", "sqlalchemy", "fastapi"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
