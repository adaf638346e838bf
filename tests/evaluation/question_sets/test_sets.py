"""Quotas, leaks, duplicates, the journal, and a set drawn from candidates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.question_sets.drawing import DUPLICATE, QuestionSetSettings, make_set
from evaluation.question_sets.duplicates import duplicate_groups
from evaluation.question_sets.journal import Journal
from evaluation.question_sets.leakage import leaks, longest_shared_run
from evaluation.question_sets.quotas import KindShares, quotas
from evaluation.question_sets.record import question_records
from generation.question_sets.by_rule import candidate_questions
from generation.question_sets.candidate import AnswerLocation, Candidate, SourceText


class LetterEncoder:
    """Counts letters: close texts have close vectors."""

    fingerprint = "letters"
    dimension = 26
    max_tokens = 100

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    encode_passages = encode_queries

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


class Refuses:
    """Refuses texts with a word."""

    def __init__(self, word: str) -> None:
        self.word, self.asked = word, 0

    def refusals(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        self.asked += len(candidates)
        return ["it has the word" if self.word in c.text else "" for c in candidates]


def _sources() -> list[SourceText]:
    towns = ("Arnby", "Brestow", "Calder", "Dunmere", "Eskham", "Fosdyke")
    return [
        SourceText(
            f"{town.lower()}.md",
            f"The harbour of {town}",
            f"The harbour of {town} was founded in {1700 + 13 * n} by Lord Percival {town}. "
            f"The harbour holds {40 + 7 * n} boats. The lighthouse of {town} stands {20 + n} metres above the sea. "
            f"In {1850 + n}, a storm destroyed the old pier of {town}.\n",
        )
        for n, town in enumerate(towns)
    ]


def _draw(n: int, seed: int = 0, check: Refuses | None = None, journal: Journal | None = None) -> list[str]:
    sources = _sources()
    base = [(s.document_id, list(candidate_questions(s))) for s in sources]
    made = make_set(
        sources,
        base,
        check or Refuses("#"),
        LetterEncoder(),
        QuestionSetSettings(n, seed),
        journal or Journal(None, {}),
    )
    return [c.text for c in made.kept]


@pytest.mark.parametrize("n", [1, 2, 5, 10, 99, 200])
def test_quotas_add_up_and_a_fifth_is_unanswerable(n: int) -> None:
    counts = quotas(n, KindShares().weights)
    assert sum(counts.values()) == n
    assert counts["unanswerable"] >= n / 5


@pytest.mark.parametrize("weight", [-0.1, -5.0])
def test_negative_weights_are_refused(weight: float) -> None:
    with pytest.raises(EvaluationError, match=str(weight)):
        KindShares(one_fact=weight)


def test_a_set_is_a_function_of_its_seed() -> None:
    assert _draw(8, 1) == _draw(8, 1)
    assert _draw(8, 1) != _draw(8, 2)


def test_a_set_is_spread_over_documents_and_counted() -> None:
    sources = _sources()
    base = [(s.document_id, list(candidate_questions(s))) for s in sources]
    check = Refuses("boats")
    made = make_set(sources, base, check, LetterEncoder(), QuestionSetSettings(8), Journal(None, {}))
    assert len({c.places[0].document_id for c in made.kept}) >= 5
    assert made.documents == 6
    assert not any("boats" in c.text for c in made.kept)
    assert sum(made.made.values()) >= len(made.kept) + sum(v for k, v in made.refused.items() if k != DUPLICATE)


def test_checks_that_were_made_before_are_not_made_again(tmp_path: Path) -> None:
    first, again = Refuses("boats"), Refuses("boats")
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, {"seed": 0})
    texts = _draw(8, 0, first, journal)
    journal.close()
    resumed = Journal(path, {"seed": 0})
    assert _draw(8, 0, again, resumed) == texts
    assert first.asked > 0
    assert again.asked == 0
    assert resumed.resumed == first.asked
    resumed.close()


def test_a_half_written_line_of_the_journal_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, {"seed": 0})
    journal.put("a", "yes")
    journal.close()
    path.write_text(path.read_text() + '{"key": "b", "va')
    again = Journal(path, {"seed": 0})
    assert (again.get("a"), again.get("b")) == ("yes", None)
    again.put("c", "")
    again.close()
    last = Journal(path, {"seed": 0})
    assert last.get("c") == ""
    last.close()


def test_a_journal_of_other_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path, {"seed": 0}).close()
    with pytest.raises(EvaluationError, match=r"journal\.jsonl"):
        Journal(path, {"seed": 1})


def test_leaks() -> None:
    passage = "The harbour of Arnby was founded in 1700 by Lord Percival Arnby after the long war."
    assert longest_shared_run("Was Arnby founded in 1700?", passage) == 3
    assert leaks("Who founded what in 1700, the harbour?", passage, "1700")
    assert leaks("Which place was founded in 1700 by Lord Percival and why?", passage, "Arnby")
    assert not leaks("When did the port start?", passage, "1700")


def test_duplicates_are_grouped_by_the_first() -> None:
    texts = ["when does the office open", "When does the office open?", "xyz quick jumps", "when the office does open"]
    assert duplicate_groups(texts, LetterEncoder()) == [[0, 1, 3], [2]]
    assert duplicate_groups([], LetterEncoder()) == []


def test_records_have_places_and_provenance() -> None:
    place = AnswerLocation("d", 3, 7, 0, 20, "1700")
    rows = question_records(
        [
            Candidate("When?", "one_fact", ("1700",), (place,)),
            Candidate("When not?", "unanswerable", (), (place,), based_on="When?"),
        ],
        {"seed": 4},
    )
    assert rows[0]["evidence"] == [{"document_id": "d", "start": 3, "end": 7}]
    assert rows[0]["provenance"] == {"writer": "rule", "seed": 4}
    assert rows[1]["answerable"] is False
    assert rows[1]["evidence"] == []
    assert rows[1]["relevant_document_ids"] == ["d"]


@pytest.mark.parametrize("n", [5, 10, 40, 100])
def test_a_fifth_is_unanswerable_even_where_near_misses_are_few(n: int) -> None:
    sources = _sources()
    base = [(s.document_id, list(candidate_questions(s))) for s in sources]
    made = make_set(sources, base, Refuses("#"), LetterEncoder(), QuestionSetSettings(n), Journal(None, {}))
    missed = sum(not c.answerable for c in made.kept)
    assert len(made.kept) <= n
    assert missed >= len(made.kept) / 5
