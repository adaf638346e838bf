"""Read relevance judgements from TREC and BEIR files or from questions, and check them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.beir import read_judgements
from data.questions import Question
from data.refused import Refused
from evaluation.errors import EvaluationError

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Judgements:
    """Relevance judgements.

    grades: grades by question ID and document ID. A grade above 0 means relevant.
    where: name of the source, for messages.
    """

    grades: Mapping[str, Mapping[str, int]]
    where: str

    @property
    def document_ids(self) -> frozenset[str]:
        """IDs of all judged documents."""
        return frozenset(document for grades in self.grades.values() for document in grades)

    def relevant(self, question_id: str) -> frozenset[str]:
        """Return the IDs of the documents judged relevant to the question."""
        return frozenset(document for document, grade in self.grades.get(question_id, {}).items() if grade > 0)


def read_qrels(path: Path) -> Judgements:
    """Read a qrels file: TREC's four columns (question, iteration, document, grade) or BEIR's three with a header.

    Raises EvaluationError, with the first invalid lines, for anything else. Invalid lines are not skipped, because
    fewer judgements would change the measures.
    """
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
    except OSError as error:
        raise EvaluationError(f"the qrels file {path} cannot be read ({error.strerror})") from error
    if not first:
        raise EvaluationError(f"the qrels file {path} is empty: it must judge documents for questions")
    tabs = len(first.split(b"\t"))
    grades, problems = _beir(path) if tabs == 3 else _trec(path)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:_SHOWN])
        raise EvaluationError(
            f"{path} has {len(problems)} invalid lines. It must have TREC's four columns (question, 0, document, "
            f"grade) or BEIR's three (query-id, corpus-id, score), separated by tabs:\n{listed}"
        )
    return Judgements(grades, str(path))


def judged_by_questions(questions: Sequence[Question], where: str) -> Judgements:
    """Return the relevant documents that the questions themselves name, with grade 1.

    Questions without any are left out.
    """
    grades = {
        question.id: dict.fromkeys(question.relevant_document_ids, 1)
        for question in questions
        if question.relevant_document_ids and question.answerable
    }
    return Judgements(grades, where)


@dataclass(frozen=True, slots=True)
class JudgedQuestions:
    """Questions with their judgements.

    questions: judged questions in file order.
    notes: warnings, one line each.
    own: IDs of questions that are documents of the collection (evaluation.retrieval.own_documents).
    """

    questions: tuple[Question, ...]
    judgements: Judgements
    notes: tuple[str, ...]
    own: frozenset[str] = frozenset()


def judged_questions(
    questions: Sequence[Question], judgements: Judgements, known_documents: frozenset[str]
) -> JudgedQuestions:
    """Return the questions with a relevant document, after a check against the judgements and the collection.

    known_documents: IDs of the documents in the searched collection.

    A judged document outside the collection can never be found. It counts as missed, and a note gives the number.

    Raises EvaluationError if the judgements name unknown questions, if no judged document is in the collection, or if
    no question has a relevant document.
    """
    ids = {question.id for question in questions}
    missing = [key for key in judgements.grades if key not in ids]
    if missing:
        raise EvaluationError(
            f"{judgements.where} judges {len(missing)} questions that are not in the question file with its {len(ids)} "
            f"questions, such as {', '.join(map(repr, missing[:_SHOWN]))}: use the queries that belong to it"
        )
    unknown = judgements.document_ids - known_documents
    if judgements.document_ids and len(unknown) == len(judgements.document_ids):
        raise EvaluationError(
            f"none of the {len(unknown)} documents that {judgements.where} judges is in the collection, so their IDs "
            f"do not match (judged: {min(unknown)!r}, in the collection: {min(known_documents, default='nothing')!r})"
        )
    kept = tuple(question for question in questions if judgements.relevant(question.id))
    if not kept:
        raise EvaluationError(
            f"{judgements.where} judges no document as relevant: at least one question needs a relevant document"
        )
    notes = []
    if unknown:
        share = f"{len(unknown)} of {len(judgements.document_ids)}"
        named = ", ".join(map(repr, sorted(unknown)[:_SHOWN]))
        notes.append(
            f"{share} judged documents are not in the collection and count as missed ({named}"
            f"{', ...' if len(unknown) > _SHOWN else ''}). Indexing reports which documents it refused, and why"
        )
    if len(judgements.grades) > len(kept):
        notes.append(
            f"{len(judgements.grades) - len(kept)} judged questions have no relevant document and are left out"
        )
    return JudgedQuestions(kept, judgements, tuple(notes))


def _beir(path: Path) -> tuple[dict[str, dict[str, int]], list[str]]:
    grades: dict[str, dict[str, int]] = {}
    problems: list[str] = []
    for judgement in read_judgements(path):
        if isinstance(judgement, Refused):
            problems.append(str(judgement))
        else:
            grades.setdefault(judgement.query_id, {})[judgement.document_id] = judgement.grade
    return grades, problems


def _trec(path: Path) -> tuple[dict[str, dict[str, int]], list[str]]:
    grades: dict[str, dict[str, int]] = {}
    problems: list[str] = []
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            cells = line.split()
            if not cells:
                continue
            if len(cells) != 4:
                problems.append(f"{path}:{number}: {len(cells)} columns")
                continue
            try:
                grades.setdefault(cells[0], {})[cells[2]] = int(cells[3])
            except ValueError:
                problems.append(f"{path}:{number}: the grade {cells[3]!r} is not an integer")
    return grades, problems
