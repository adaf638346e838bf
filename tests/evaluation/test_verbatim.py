"""Claims in other languages that the evidence says word for word, or denies."""

from __future__ import annotations

import pytest

from evaluation.contrast.verbatim import states


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Die Leitung ist dicht.", "Die Leitung ist nicht dicht.", False),
        ("Die Leitung ist dicht.", "Seit Mai gilt: Die Leitung ist dicht.", True),
        ("Le contrat dure deux ans.", "Le contrat du Heron 4 dure deux ans. Il coûte 40 euros.", True),
        ("Le contrat ne dure pas deux ans.", "Le contrat du Heron 4 dure deux ans.", False),
        ("Le contrat ne dure pas deux ans.", "Le contrat ne dure pas deux ans.", True),
        ("Le contrat dure six ans.", "Le contrat du Heron 4 dure deux ans.", None),
        ("La bomba pesa 12 kg.", "La bomba nueva pesa 12 kg.", None),
        ("Срок составляет два года.", "Срок на Heron 4 составляет два года.", True),
        ("保修期为两年。", "Heron 4 的保修期为两年。", True),
        ("电池在范围内。", "电池不在范围内。", False),
        ("Kaksi vuotta", "Takuu kestää kaksi vuotta.", True),
        ("Ja", "Ja, das gilt.", None),
    ],
)
def test_what_clauses_say(claim: str, evidence: str, expected: bool | None) -> None:
    assert states(claim, evidence) is expected
