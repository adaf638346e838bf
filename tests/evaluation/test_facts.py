"""A table of facts as a verifier: what is found, what contradicts, numbers with tolerance, dates, and bad tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.errors import DataError
from data.fact_tables import Fact, FactTable, open_facts
from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.outcomes import outcome_of
from evaluation.verifiers.facts import FactVerifier
from evaluation.verifiers.verifier import VerificationItem

ROWS = [
    ("Norvik", "capital_of", "Skarland", "capital", None),
    ("Skarland", "capital", "Norvik", "", None),
    ("Ostland", "capital", "Veltin", "", None),
    ("Heron 4", "warranty", "3 years", "guaranteed|guarantee", None),
    ("Heron 4", "weight", "1.5 kg", "weighs", "0.05"),
    ("Heron 4", "price", "240", "costs", None),
    ("Heron", "price", "90", "costs", None),
    ("Anna Müller", "date of birth", "1974-03-02", "born", None),
    ("Kiln Trust", "founder", "Odo Kray", "founded", None),
    ("Kiln Trust", "founder", "Ines Vale", "founded", None),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("facts") / "facts.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE Facts (Subject TEXT, relation TEXT, value, cues TEXT, tolerance REAL)")
        connection.executemany("INSERT INTO Facts VALUES (?, ?, ?, ?, ?)", ROWS)
        connection.execute("CREATE VIEW bare AS SELECT Subject AS subject, relation, value FROM Facts")
    return f"sqlite:///{path}"


@pytest.fixture(scope="module")
def table(database: str) -> Iterator[FactTable]:
    found = open_facts(f"{database}#Facts")
    yield found
    found.close()


def judged(table: FactTable, question: str, answer: str, tolerance: float = 0.0) -> tuple[str, float | None, str]:
    verifier, subject = FactVerifier(table, tolerance), Question("q", question)
    extracted = verifier.extract(subject, answer)
    (found,) = verifier.verify([VerificationItem(subject, extracted.claims, answer)])
    assert all(answer[v.claim.start : v.claim.end] == v.claim.text for v in found)
    for verdict in found:
        assert all(e.text == e.text[e.start : e.end] for e in verdict.evidence)
        assert verdict.verifier == verifier.name
    return found[0].label, found[0].support, found[0].reason


@pytest.mark.parametrize(
    ("question", "answer", "label"),
    [
        ("What is the capital of Skarland?", "Norvik", "supported"),
        ("What is the capital of Skarland?", "The capital of Skarland is Norvik.", "supported"),
        ("What is the capital of Skarland?", "Veltin", "contradicted"),  # known elsewhere
        ("What is the capital of Skarland?", "Pelham", "contradicted"),  # a short answer is a value
        ("Tell me about it.", "The capital of Skarland is Veltin.", "contradicted"),
        ("Tell me about it.", "The capital of Skarland is a windy place.", "unverifiable"),
        ("Tell me about it.", "The harbour of Skarland is deep.", "unverifiable"),
        ("What is the capital of Skarland?", "It has a harbour.", "unverifiable"),  # a statement, and no value
        ("What is the capital of Nowhere?", "Norvik", "unverifiable"),
        ("What is the capital of Skarland?", "It is not Norvik.", "contradicted"),
        ("How long is the guarantee of the Heron 4?", "Three years", "supported"),
        ("How long is the guarantee of the Heron 4?", "36 months", "supported"),
        ("How long is the guarantee of the Heron 4?", "5 years", "contradicted"),
        ("What does the Heron 4 weigh?", "The Heron 4 weighs 1.54 kg.", "supported"),
        ("What does the Heron 4 weigh?", "The Heron 4 weighs 1540 grams.", "supported"),
        ("What does the Heron 4 weigh?", "The Heron 4 weighs 1.6 kg.", "contradicted"),
        ("How much is it?", "The Heron 4 costs 240.", "supported"),
        ("How much is it?", "The Heron costs 240.", "contradicted"),
        ("When was Anna Müller born?", "On 2 March 1974.", "supported"),
        ("When was Anna Müller born?", "3 March 1974", "contradicted"),
        ("When was ANNA MÜLLER born?", "in 1974", "unverifiable"),
        ("Who founded the Kiln Trust?", "Ines Vale", "supported"),
        ("Who founded the Kiln Trust?", "Odo Kray founded the Kiln Trust.", "supported"),
        ("Who founded the Kiln Trust?", "Bram Stoll", "contradicted"),
    ],
)
def test_labels(table: FactTable, question: str, answer: str, label: str) -> None:
    found, support, reason = judged(table, question, answer)
    assert found == label, reason
    assert (support == 1.0) == (label == "supported")


def test_a_tolerance_for_all_numbers_leaves_a_facts_own_alone(table: FactTable) -> None:
    for answer, label in (("250", "supported"), ("230", "supported"), ("260", "contradicted")):
        assert judged(table, "What does the Heron 4 cost? Its price?", answer, 0.05)[0] == label
    assert judged(table, "What does the Heron 4 weigh?", "The Heron 4 weighs 1.6 kg.", 0.5)[0] == "contradicted"
    for bad in (-0.1, 1.0, float("nan")):
        with pytest.raises(EvaluationError, match="tolerance"):
            FactVerifier(table, bad)


def test_refusals_abstain_and_many_claims_are_one_question_to_the_database(table: FactTable) -> None:
    verifier, question = FactVerifier(table), Question("q", "What is the capital of Skarland?")
    assert outcome_of((), verifier.extract(question, "I don't know.").refused).outcome == "abstained"
    text = "The capital of Skarland is Norvik. The Heron 4 costs 12."
    extracted = verifier.extract(question, text)
    found = verifier.verify([VerificationItem(question, extracted.claims, text)] * 2)
    assert [[v.label for v in verdicts] for verdicts in found] == [["supported", "contradicted"]] * 2


def test_the_name_follows_the_facts_and_not_their_order(database: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    lines = ["subject,relation,value", "A,b,c", "D,e,f"]
    path.write_text("\n".join(lines))
    first = open_facts(str(path))
    path.write_text("\n".join([lines[0], *lines[:0:-1]]))
    assert open_facts(str(path)).fingerprint == first.fingerprint and first.facts == 2
    path.write_text("\n".join([*lines, "D,e,g"]))
    assert open_facts(str(path)).fingerprint != first.fingerprint
    bare = open_facts(f"{database}#bare")
    assert bare.facts == len(ROWS) and bare.about(["heron"]) == (Fact("Heron", "price", "90"),)
    assert bare.about(["nobody"] * 2000) == ()


def test_bad_tables_are_named(database: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    for text, expected in (
        ('{"subject": "a", "relation": "b"}', "facts.jsonl:1.*value"),
        ('{"subject": "a", "relation": "b", "value": 1, "tolerance": "much"}', "tolerance.*'much'"),
        ("[1]", "JSON list"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=expected):
            open_facts(str(path))
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE facts (subject TEXT, object TEXT)")
        connection.execute("CREATE TABLE empty (subject TEXT, relation TEXT, value TEXT)")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    for source, expected in (
        (other, "'relation'.*subject, object"),
        (f"{other}#empty", "no fact"),
        (f"{other}#none", "'none'"),
        (f"sqlite:///{tmp_path / 'missing.db'}", "missing.db"),
        ("nonsense://x", "database URL"),
        ("postgresql+psycopg2://me:secret@host/x", "driver is missing|the database says"),
    ):
        with pytest.raises(DataError, match=expected) as error:
            open_facts(source)
        assert "secret" not in str(error.value)
    assert not (tmp_path / "missing.db").exists()
