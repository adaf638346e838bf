"""Generation of a question set from a collection, end to end without the reader's check, and by a model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from app.errors import AppError
from app.pipeline import Pipeline
from app.questions.make import MakeRequest, journal_path, make_questions
from app.questions.writing import LEAKS, NO_QUESTION, POINTS, WriterSettings, by_model
from data.documents import Document
from data.question_loader import load_questions
from evaluation.question_sets.drawing import QuestionSetSettings
from evaluation.question_sets.journal import Journal
from generation.causal.prompt_template import read_prompt
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from generation.question_sets.by_model import TEMPLATE, question_in
from generation.question_sets.candidate import SourceText
from retrieval.chunking.chunks import RetrievedChunk

TOWNS = ("Arnby", "Brestow", "Calder", "Dunmere")
DOCUMENTS = [
    Document(
        f"{town.lower()}.md",
        f"The harbour of {town}",
        f"The harbour of {town} was founded in {1700 + 13 * n} by Lord Percival {town}. "
        f"The harbour holds {40 + 7 * n} boats. In {1850 + n}, a storm destroyed the old pier of {town}.\n",
    )
    for n, town in enumerate(TOWNS)
]
TABLES = [Document("t", "Table", "| a | b |\n| 1 | 2 |\n"), Document("d", "Deutsch", "Der Hafen wurde 1711 gebaut.\n")]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory, make_settings: Any, small_pipeline: Any) -> Iterator[Pipeline]:
    with Pipeline(make_settings(tmp_path_factory.mktemp("make") / "home")) as made:
        made.__dict__["encoder"] = small_pipeline.encoder
        made.index("harbours", DOCUMENTS)
        made.index("tables", TABLES)
        yield made


def _quiet(what: str, done: int, total: int) -> None:
    pass


def _make(pipeline: Pipeline, output: Path, **fields: Any) -> list[dict[str, Any]]:
    values: dict[str, Any] = {"settings": QuestionSetSettings(8), "round_trip": False, **fields}
    make_questions(pipeline, MakeRequest("harbours", output, **values), _quiet)
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_questions_have_places_provenance_and_near_misses(pipeline: Pipeline, tmp_path: Path) -> None:
    output = tmp_path / "q.jsonl"
    rows = _make(pipeline, output)
    texts = {document.id: document.text for document in DOCUMENTS}
    assert len(rows) == len(load_questions(output)) == 8
    assert sum(not row["answerable"] for row in rows) >= 2
    for row in rows:
        assert row["provenance"]["collection"] == "harbours"
        for span in row["evidence"] if row["kind"] != "two_passage" else ():
            assert texts[span["document_id"]][span["start"] : span["end"]] == row["references"][0]
    assert not journal_path(output).exists()


def test_the_same_seed_makes_the_same_file(pipeline: Pipeline, tmp_path: Path) -> None:
    assert _make(pipeline, tmp_path / "a.jsonl") == _make(pipeline, tmp_path / "b.jsonl")


def test_tables_and_other_languages_make_nothing(pipeline: Pipeline, tmp_path: Path) -> None:
    output = tmp_path / "q.jsonl"
    with pytest.raises(AppError, match="'tables'"):
        make_questions(pipeline, MakeRequest("tables", output, round_trip=False), _quiet)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["missing/q.jsonl", "."])
def test_places_that_cannot_be_written(pipeline: Pipeline, tmp_path: Path, place: str) -> None:
    with pytest.raises(AppError, match="--output"):
        make_questions(pipeline, MakeRequest("harbours", tmp_path / place), _quiet)


def test_the_reader_writes_no_questions(pipeline: Pipeline, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="--model reader"):
        make_questions(pipeline, MakeRequest("harbours", tmp_path / "q.jsonl", model="reader"), _quiet)


@pytest.mark.parametrize(
    "options",
    [("--n", "0"), ("--n", "-3"), ("--seed", "-1"), ("--unanswerable", "1"), ("--temperature", "-1"), ("--model", " ")],
)
def test_values_that_cannot_be(typed: Callable[..., Any], tmp_path: Path, options: tuple[str, str]) -> None:
    found = typed("questions", "make", "harbours", "--home", tmp_path, "--output", tmp_path / "q.jsonl", *options)
    assert (found.code, options[0] in found.err) == (2, True)


def test_a_file_that_exists_is_not_replaced(typed: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text("mine")
    found = typed("questions", "make", "harbours", "--home", tmp_path, "--output", tmp_path / "q.jsonl")
    assert (found.code, "--force" in found.err) == (2, True)
    assert (tmp_path / "q.jsonl").read_text() == "mine"


class Writes:
    """A language model that writes the same text for every passage."""

    name, fingerprint, context_length = "writes", "4" * 64, 512

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, 0

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        return Prompt(question, tuple(PromptChunk(1, c, 0, len(c.chunk.text)) for c in chunks), (), (1,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        self.asked += 1
        return tuple(Completion(self.text, (), (), "stop", Usage(1, 1), seed) for seed in seeds)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NO_QUESTION),
        ("I cannot do that.", NO_QUESTION),
        ("What?", NO_QUESTION),
        ("Which pier was destroyed, as said in the passage above?", POINTS),
        ("Is the harbour of Arnby was founded in the year?", LEAKS),
        ("Question: Which lord stood behind Arnby's old port?", ""),
    ],
)
def test_what_a_model_writes_is_checked_and_remembered(tmp_path: Path, text: str, reason: str) -> None:
    source = SourceText(DOCUMENTS[0].id, DOCUMENTS[0].title or "", DOCUMENTS[0].text)
    journal, refused, writer = Journal(tmp_path / "j", {}), Counter[str](), Writes(text)
    ((document, made),) = by_model([source], writer, WriterSettings(3), journal, refused)
    assert document == source.document_id
    assert writer.asked > 0
    if reason:
        assert made == []
        assert set(refused) == {reason}
    else:
        assert {c.text for c in made} == {"Which lord stood behind Arnby's old port?"}
        assert {c.writer for c in made} == {"writes"}
    asked = writer.asked
    list(by_model([source], writer, WriterSettings(3), journal, Counter()))
    assert writer.asked == asked
    journal.close()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ('"Who built the pier at Arnby?"', "Who built the pier at Arnby?"),
        ("Sure!\n1. When was it that the pier fell? It fell in 1850.", "When was it that the pier fell?"),
        ("The pier fell.", None),
        ("?", None),
        ("who " * 60 + "?", None),
    ],
)
def test_the_question_in_what_a_model_wrote(text: str, question: str | None) -> None:
    assert question_in(text) == question


def test_the_packaged_prompt_shows_passage_and_answer() -> None:
    with resources.as_file(resources.files("generation").joinpath("prompts").joinpath(TEMPLATE)) as file:
        text = read_prompt(file).text
    assert "{{ passage.text }}" in text
    assert "{{ question }}" in text
