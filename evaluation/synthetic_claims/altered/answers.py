"""Answers paired with altered evidence, which changes the truth of unchanged claims.

A verifier that relies on an answer's style, or on words that occur anywhere in the passage, judges one of the two
wrongly (contrastive evidence: Schuster et al. 2021, "Get Your Vitamin C! Robust Fact Verification with Contrastive
Evidence").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from data.pairs import PairExample
from evaluation.synthetic_claims.altered.alteration import Alteration, ValueSwap, alter_claim, exchange_in_claim
from evaluation.synthetic_claims.altered.records import alter_record
from evaluation.synthetic_claims.altered.removal import remove_sentence
from evaluation.synthetic_claims.altered.values import exchange_values, names_in, replace_value
from evaluation.synthetic_claims.seeded_random import seeded_random

_AGREEING = 0.3
"""Probability of altering claims along with their evidence.

They stay true, so that unusual text does not reveal the label.
"""
_RECORD, _REMOVED, _SWAPPED = 0.7, 0.3, 0.7
_NAMES = 2_000


def altered_answers(answers: Sequence[Sequence[PairExample]], share: float, seed: int) -> list[list[PairExample]]:
    """Return, for a share of the answers, the same answer with altered evidence, in order.

    Answers are skipped if the effect of every alteration on their claims is uncertain. The result depends only on the
    answers and the seed.
    """
    pool = Counter(name for answer in answers[:_NAMES] for name in names_in(answer[0].evidence))
    names = sorted(name for name, _ in pool.most_common(_NAMES))
    out = []
    for answer in answers:
        chance = seeded_random(seed, "altered", answer[0].source, answer[0].group, answer[0].answer)
        if chance.random() < share:
            found = _alter_answer(answer, names, chance)
            if found is not None:
                out.append(found)
    return out


def _alter_answer(answer: Sequence[PairExample], names: Sequence[str], chance: Random) -> list[PairExample] | None:
    if chance.random() < _RECORD and (record := alter_record(answer, chance)):
        return _with_alteration(answer, record)
    if chance.random() < _REMOVED and (shorter := remove_sentence(answer, chance)):
        return _with_alteration(answer, shorter)
    first_swap = chance.random() < _SWAPPED
    exchange = exchange_values(answer, chance) if first_swap else replace_value(answer, names, chance)
    if exchange is None:
        exchange = replace_value(answer, names, chance) if first_swap else exchange_values(answer, chance)
    if exchange is None:
        return None
    evidence = exchange.applied(answer[0].evidence)
    if chance.random() < _AGREEING:
        return [exchange_in_claim(example, evidence, exchange) for example in answer]
    return _with_alteration(answer, _values_wrong(answer, evidence, exchange))


def _values_wrong(answer: Sequence[PairExample], evidence: str, exchange: ValueSwap) -> Alteration:
    return Alteration(evidence, tuple(exchange.spans_in(example.claim) for example in answer))


def _with_alteration(answer: Sequence[PairExample], found: Alteration) -> list[PairExample] | None:
    if not found.affects_claims or not re.search(r"\w", found.evidence):
        return None
    return [alter_claim(e, found.evidence, spans) for e, spans in zip(answer, found.claims, strict=True)]
