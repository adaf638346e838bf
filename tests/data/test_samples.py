"""The sample corpus and its questions: sizes, kinds, and answers at the offsets of their questions.

The files are read with json and pathlib only, so that an error of the loaders cannot hide an error of the samples. A
document's text starts after the title line and the blank lines that follow it, and has no trailing white space.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from data import documents as data_documents

SAMPLES = Path(data_documents.__file__).parent / "samples"
HALVES = ("world", "company")
KINDS = ("one_fact", "two_article", "number", "list", "paraphrase", "unanswerable")
FIELDS = {"id", "text", "references", "relevant_document_ids", "answerable", "kind", "evidence"}
LEAST_OF_KIND_WORLD = {
    "one_fact": 28,
    "two_article": 10,
    "number": 12,
    "list": 6,
    "paraphrase": 10,
    "unanswerable": 16,
}
SHARED_SENTENCE_WORDS = 8  # shorter sentences may be equal by chance


def text_of(content: str) -> str:
    """Return the document's text: the file's content without title line, blank lines after it and trailing space."""
    return content.split("\n", 1)[1].lstrip("\n").rstrip()


def read_texts(corpus: Path) -> dict[str, str]:
    """Return document id (path below corpus, forward slashes) -> text, for every .md file."""
    return {
        path.relative_to(corpus).as_posix(): text_of(path.read_text(encoding="utf-8"))
        for path in sorted(corpus.rglob("*.md"))
    }


def read_questions(path: Path) -> list[dict[str, Any]]:
    """Return the questions of one file, which has one JSON object per line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answer_fault(question: Mapping[str, Any], texts: Mapping[str, str]) -> str | None:
    """Return what is wrong with a question's documents, references and evidence, or None.

    The rule for evidence: the first span equals references[0]; spans after it are the facts that lead to the answer.
    Two exceptions: the spans of a list may be its items, each of which then occurs in references[0]; and the answer to
    a two-article question may be "yes" or "no", with two or more spans. All comparisons are exact, with case.
    """
    relevant, references, evidence = (question[key] for key in ("relevant_document_ids", "references", "evidence"))
    missing = [document_id for document_id in relevant if document_id not in texts]
    if missing or not relevant:
        return f"no relevant document, or one that does not exist: {missing}"
    if not question["answerable"]:
        return "unanswerable, but has references or evidence" if references or evidence else None
    if not references or not evidence or not all(reference.strip() for reference in references):
        return "answerable, but lacks references or evidence"
    spans = []
    for span in evidence:
        if span["document_id"] not in relevant:
            return f"evidence in {span['document_id']}, which is not among the relevant documents"
        text = texts[span["document_id"]]
        if not 0 <= span["start"] < span["end"] <= len(text):
            return f"span [{span['start']}, {span['end']}) lies outside {span['document_id']} ({len(text)} characters)"
        spans.append(text[span["start"] : span["end"]])
    if spans[0] == references[0]:
        return None
    if question["kind"] == "list" and all(span in references[0] for span in spans):
        return None
    if question["kind"] == "two_article" and references[0] in ("yes", "no") and len(spans) > 1:
        return None
    return f"the first of the spans {spans!r} is not the reference {references[0]!r}"


def long_sentences(text: str) -> set[str]:
    """Return the sentences of SHARED_SENTENCE_WORDS words or more, in lower case without punctuation."""
    words = (re.findall(r"\w+", sentence.lower()) for sentence in re.split(r"(?<=[.!?])\s+|\n+", text))
    return {" ".join(sentence) for sentence in words if len(sentence) >= SHARED_SENTENCE_WORDS}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return read_texts(SAMPLES / "corpus")


@pytest.fixture(scope="module")
def questions() -> dict[str, list[dict[str, Any]]]:
    return {half: read_questions(SAMPLES / f"questions_{half}.jsonl") for half in HALVES}


@pytest.fixture(scope="module")
def all_questions(questions: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [question for half in HALVES for question in questions[half]]


def test_articles_are_many_titled_and_of_the_right_length(texts: dict[str, str]) -> None:
    assert len(texts) >= 60
    assert {document_id.split("/")[0] for document_id in texts} == set(HALVES)
    lengths = {document_id: len(text.split()) for document_id, text in texts.items()}
    assert {name: count for name, count in lengths.items() if not 150 <= count <= 400} == {}
    for document_id in texts:
        title, blank = (SAMPLES / "corpus" / document_id).read_text(encoding="utf-8").split("\n")[:2]
        assert re.fullmatch(r"# \S.*", title), document_id
        assert blank == "", document_id


def test_titles_are_unique(texts: dict[str, str]) -> None:
    titles = Counter((SAMPLES / "corpus" / name).read_text(encoding="utf-8").split("\n", 1)[0] for name in texts)
    assert [title for title, count in titles.items() if count > 1] == []


def test_no_two_articles_share_a_long_sentence(texts: dict[str, str]) -> None:
    owner: dict[str, str] = {}
    shared = []
    for document_id, text in texts.items():
        for sentence in long_sentences(text):
            if sentence in owner:
                shared.append((owner[sentence], document_id, sentence))
            owner[sentence] = document_id
    assert shared == []


def test_questions_are_many_and_of_every_kind(
    questions: dict[str, list[dict[str, Any]]], all_questions: list[dict[str, Any]]
) -> None:
    assert len(all_questions) >= 160
    kinds = {half: Counter(question["kind"] for question in questions[half]) for half in HALVES}
    assert set(kinds["world"]) | set(kinds["company"]) == set(KINDS)
    assert {
        kind: kinds["world"][kind] for kind, least in LEAST_OF_KIND_WORLD.items() if kinds["world"][kind] < least
    } == {}
    assert all(kinds["company"][kind] >= 5 for kind in KINDS), kinds["company"]
    assert kinds["world"]["unanswerable"] + kinds["company"]["unanswerable"] >= 30


def test_the_data_card_states_the_counts(
    texts: dict[str, str], questions: dict[str, list[dict[str, Any]]], all_questions: list[dict[str, Any]]
) -> None:
    card = (SAMPLES / "DATACARD.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in card.splitlines() if line.startswith("|")]
    stated = {row[0]: row[1:] for row in rows}
    counts = [*(Counter(question["kind"] for question in questions[half]) for half in HALVES)]
    for kind in KINDS:
        world, company = (count[kind] for count in counts)
        assert stated[kind] == [str(world), str(company), str(world + company)], kind
    sizes = [len(questions[half]) for half in HALVES]
    assert stated["all questions"] == [str(count) for count in (*sizes, len(all_questions))]
    articles = [sum(name.startswith(f"{half}/") for name in texts) for half in HALVES]
    assert stated["articles"] == [str(count) for count in (*articles, len(texts))]


def test_question_fields_are_well_formed(questions: dict[str, list[dict[str, Any]]]) -> None:
    for half in HALVES:
        for question in questions[half]:
            assert set(question) == FIELDS, question["id"]
            assert re.fullmatch(rf"{half}-\d{{3}}", question["id"]), question["id"]
            assert question["text"].strip() == question["text"], question["id"]
            assert question["text"].endswith("?"), question["id"]
            assert len(set(question["references"])) == len(question["references"]), question["id"]
            assert (question["kind"] == "unanswerable") == (not question["answerable"]), question["id"]


def test_question_ids_and_texts_are_unique(all_questions: list[dict[str, Any]]) -> None:
    for field in ("id", "text"):
        counts = Counter(question[field] for question in all_questions)
        assert [value for value, count in counts.items() if count > 1] == [], field


def test_every_answer_stands_where_its_question_says(
    texts: dict[str, str], all_questions: list[dict[str, Any]]
) -> None:
    faults = {question["id"]: answer_fault(question, texts) for question in all_questions}
    assert {name: fault for name, fault in faults.items() if fault is not None} == {}


def test_answers_are_short(all_questions: list[dict[str, Any]]) -> None:
    long = {
        question["id"]: question["references"][0]
        for question in all_questions
        if question["kind"] not in ("list", "unanswerable") and len(question["references"][0].split()) > 8
    }
    assert long == {}


def test_two_article_questions_need_two_articles(all_questions: list[dict[str, Any]]) -> None:
    for question in all_questions:
        documents = {span["document_id"] for span in question["evidence"]}
        if question["kind"] == "two_article":
            assert len(documents) >= 2, question["id"]
        if question["answerable"]:
            assert documents == set(question["relevant_document_ids"]), question["id"]


def test_every_article_about_the_world_is_asked_about(
    texts: dict[str, str], all_questions: list[dict[str, Any]]
) -> None:
    relevant = {document_id for question in all_questions for document_id in question["relevant_document_ids"]}
    assert sorted(name for name in texts if name.startswith("world/") and name not in relevant) == []


A_TEXT = {"world/a.md": "Ice floats. It melts at 0 degrees.", "world/b.md": "Lead sinks."}
GOOD: dict[str, Any] = {
    "references": ["0 degrees", "zero degrees"],
    "relevant_document_ids": ["world/a.md"],
    "answerable": True,
    "kind": "one_fact",
    "evidence": [{"document_id": "world/a.md", "start": 24, "end": 33}],
}


def test_the_check_passes_sound_questions() -> None:
    ice = {"document_id": "world/a.md", "start": 0, "end": 3}
    lead = {"document_id": "world/b.md", "start": 0, "end": 4}
    both = {"relevant_document_ids": ["world/a.md", "world/b.md"], "evidence": [ice, lead]}
    assert answer_fault(GOOD, A_TEXT) is None
    assert answer_fault({**GOOD, **both, "kind": "two_article", "references": ["Ice"]}, A_TEXT) is None
    assert answer_fault({**GOOD, **both, "kind": "two_article", "references": ["no"]}, A_TEXT) is None
    assert answer_fault({**GOOD, **both, "kind": "list", "references": ["Ice and Lead"]}, A_TEXT) is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"evidence": [{"document_id": "world/a.md", "start": 23, "end": 33}]}, "is not the reference"),
        ({"evidence": [{"document_id": "world/a.md", "start": 24, "end": 99}]}, "lies outside"),
        ({"evidence": [{"document_id": "world/b.md", "start": 0, "end": 4}]}, "not among the relevant"),
        ({"evidence": []}, "lacks references or evidence"),
        ({"references": []}, "lacks references or evidence"),
        ({"references": ["0 Degrees"]}, "is not the reference"),
        ({"relevant_document_ids": ["world/c.md"]}, "does not exist"),
        ({"relevant_document_ids": []}, "no relevant document"),
        ({"answerable": False}, "unanswerable, but has"),
        ({"kind": "two_article", "references": ["yes"]}, "is not the reference"),
        ({"kind": "list", "references": ["ice and lead"]}, "is not the reference"),
        (
            {
                "evidence": [
                    {"document_id": "world/a.md", "start": 0, "end": 3},
                    {"document_id": "world/a.md", "start": 24, "end": 33},
                ]
            },
            "is not the reference",
        ),
    ],
)
def test_the_check_finds_each_fault(change: dict[str, Any], fault: str) -> None:
    assert fault in (answer_fault({**GOOD, **change}, A_TEXT) or "")


def test_long_sentences_are_compared_without_case_and_punctuation() -> None:
    assert long_sentences("One two three four five six seven eight. Short one.") == long_sentences(
        "one, two three four five six seven eight!"
    )
