"""Generation of pairs from synthetic records: a record as evidence, and a claim with one wrong fact or none."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.business import business
from evaluation.synthetic_claims.facts import Record, claim_of_facts
from evaluation.synthetic_claims.lead_ins import with_lead
from evaluation.synthetic_claims.rendering import render_record
from evaluation.synthetic_claims.tables import box_score, person, product, towns

_MAKERS: tuple[tuple[Callable[[Random], Record], float], ...] = (
    (business, 0.62),
    (product, 0.12),
    (person, 0.08),
    (box_score, 0.1),
    (towns, 0.08),
)


def structured_pair(chance: Random) -> PairExample | None:
    """Return one pair, supported in half of the draws; None if the record has no statements."""
    makers, shares = zip(*_MAKERS, strict=True)
    record: Record = chance.choices(makers, shares)[0](chance)
    supported = chance.random() < 0.5
    claim = claim_of_facts(record.facts, supported, chance)
    if claim is None or (not supported and not claim.wrong):
        return None
    shown = with_lead(claim, chance)
    return PairExample(
        evidence=render_record(record, chance),
        claim=shown.text,
        supported=supported,
        source="made_structured",
        group=f"made_structured:{record.name}",
        wrong=None if supported else shown.wrong,
    )
