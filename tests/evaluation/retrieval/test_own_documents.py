"""Questions that are documents of the collection: their own document is no result of theirs."""

from __future__ import annotations

import pytest

from data.questions import Question
from evaluation.retrieval.judgements import Judgements, judged_questions
from evaluation.retrieval.own_documents import OwnDocuments, own_documents
from evaluation.retrieval.rankings import RankedDocument
from retrieval.chunking.chunks import Chunk


def chunk(document: str, text: str, title: str = "") -> Chunk:
    return Chunk(document, 0, len(text), text, title)


CHUNKS = (
    chunk("pro-1", "Ferries should be free because islanders have no other way."),
    chunk("con-1", "Free ferries are paid for by people who never take them."),
    chunk("con-2", "Nobody would maintain a free ferry."),
)
QUESTIONS = (Question("pro-1", CHUNKS[0].text), Question("con-2", CHUNKS[2].text))
JUDGED = Judgements({"pro-1": {"con-1": 1}, "con-2": {"pro-1": 1}}, "qrels")
RANKING = tuple(RankedDocument(name, 1.0 / rank) for rank, name in enumerate(("pro-1", "con-1", "con-2"), start=1))


def test_the_document_of_the_same_id_is_left_out_and_said() -> None:
    own = own_documents(QUESTIONS, JUDGED, CHUNKS)
    assert own.ids == {"pro-1", "con-2"}
    assert "2 of 2" in own.notes[0]
    assert [item.document_id for item in own.leave_out("pro-1", RANKING)] == ["con-1", "con-2"]
    assert own_documents(QUESTIONS, None, CHUNKS).ids == own.ids


def test_other_questions_keep_all_their_documents() -> None:
    own = OwnDocuments(frozenset({"pro-1"}))
    assert own.leave_out("con-2", RANKING) == RANKING
    assert own_documents((Question("q1", "Should ferries be free?"),), None, CHUNKS) == OwnDocuments()


def test_a_document_that_is_judged_relevant_to_its_own_question_stays() -> None:
    judged = Judgements({"pro-1": {"pro-1": 2, "con-1": 0}, "con-2": {"con-1": 1}}, "qrels")
    own = own_documents(QUESTIONS, judged, CHUNKS)
    assert own.ids == frozenset()
    assert "'con-2'" in own.notes[0]


@pytest.mark.parametrize(("text", "left_out"), [("Who repairs a broken compass?", 0), (CHUNKS[0].text, 1)])
def test_numbers_in_common_by_chance_mean_nothing(text: str, left_out: int) -> None:
    numbered = tuple(Chunk(str(i), c.start, c.end, c.text) for i, c in enumerate(CHUNKS, start=1))
    assert len(own_documents((Question("1", text),), None, numbered).ids) == left_out


def test_judged_documents_that_are_absent_are_named() -> None:
    judged = judged_questions(QUESTIONS, JUDGED, frozenset({"pro-1"}))
    assert "'con-1'" in judged.notes[0]
