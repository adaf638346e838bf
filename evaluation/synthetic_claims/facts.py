"""Synthetic records and statements about them: templates with slots, each slot with its true value and false ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.edits import EditedClaim
from evaluation.synthetic_claims.shortening import lower_first_word

_SLOT = re.compile(r"\{(\w+)\}")
_JOINTS = (". ", ". ", ", and ", "; ", ". It is also worth noting that ", ". In addition, ")


@dataclass(frozen=True, slots=True)
class Fact:
    """Statements about one fact of a record.

    templates: sentences with {slots}. true: value of each slot; empty if there is no true statement. false: wrong
    values of slots; a slot that is missing here is never changed. known: whether the record states the fact.
    """

    templates: tuple[str, ...]
    true: Mapping[str, str]
    false: Mapping[str, tuple[str, ...]]
    known: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """A synthetic record.

    name: subject of the record. value: JSON-like data. facts: possible statements. rows: lines of a table, empty for
    other records.
    """

    name: str
    value: object
    facts: tuple[Fact, ...]
    rows: tuple[Mapping[str, str], ...] = ()


def claim_of_facts(facts: Sequence[Fact], supported: bool, chance: Random) -> EditedClaim | None:
    """Return a claim of one to three facts. If it is to be unsupported, one of them is wrong.

    None if the record has no suitable fact.
    """
    count = chance.choice((1, 1, 1, 2, 2, 3))
    known = [fact for fact in facts if fact.known]
    able = [fact for fact in facts if fact.false]
    if not known or (not supported and not able):
        return None
    chosen = chance.sample(known, min(count, len(known)))
    corrupted: set[int] = set()
    if not supported:
        index = chance.randrange(len(chosen))
        chosen[index] = chance.choice(able)
        corrupted.add(index)
    text, wrong = "", []
    for index, fact in enumerate(chosen):
        sentence = _filled(fact, index in corrupted, chance)
        if not text:
            text, wrong = sentence.text, list(sentence.wrong)
            continue
        joint = chance.choice(_JOINTS)
        part = sentence.text if joint == ". " else lower_first_word(sentence.text)
        start = len(text) - 1 + len(joint)
        text = text[:-1] + joint + part
        wrong += [(a + start, b + start) for a, b in sentence.wrong]
    return EditedClaim(text, tuple(wrong))


def _filled(fact: Fact, corrupt: bool, chance: Random) -> EditedClaim:
    template = chance.choice(fact.templates)
    slots = _SLOT.findall(template)
    changeable = [slot for slot in slots if fact.false.get(slot)]
    changed = chance.choice(changeable) if corrupt and changeable else ""
    text, wrong, position = "", [], 0
    for match in _SLOT.finditer(template):
        slot = match[1]
        text += template[position : match.start()]
        value = chance.choice(fact.false[slot]) if slot == changed else fact.true.get(slot, "")
        if slot == changed:
            wrong.append((len(text), len(text) + len(value)))
        text += value
        position = match.end()
    text += template[position:]
    return EditedClaim(text[:1].upper() + text[1:], tuple(wrong))


def others(values: Sequence[str], excluded: str, chance: Random, count: int = 3) -> tuple[str, ...]:
    """Return up to ``count`` of the values, without ``excluded``."""
    rest = [value for value in values if value != excluded]
    return tuple(chance.sample(rest, min(count, len(rest))))
