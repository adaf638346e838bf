"""Convert candidates to questions, and to JSON objects of a question file with their provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from data.question_json import question_to_fields
from data.questions import EvidenceSpan, Question
from generation.question_sets.candidate import Candidate


def question_of(candidate: Candidate, question_id: str) -> Question:
    """Return the question with its gold offsets. A near miss names the closest documents and no evidence."""
    spans = [EvidenceSpan(span.document_id, span.start, span.end) for span in candidate.places]
    return Question(
        question_id,
        candidate.text,
        candidate.references,
        tuple(dict.fromkeys(span.document_id for span in candidate.places)),
        candidate.answerable,
        candidate.kind,
        tuple(spans) if candidate.answerable else (),
    )


def question_records(candidates: Sequence[Candidate], provenance: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the records of a question file. provenance: fields for the complete set (collection, seed, version)."""
    records = []
    for number, candidate in enumerate(candidates, start=1):
        fields = question_to_fields(question_of(candidate, f"made-{number:04d}"))
        own: dict[str, object] = {"writer": candidate.writer}
        if candidate.based_on:
            own["based_on"] = candidate.based_on
        if candidate.parts:
            own["made_of"] = [part.text for part in candidate.parts]
        records.append({**fields, "provenance": {**own, **provenance}})
    return records
