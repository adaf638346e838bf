"""Rendering of a record as evidence: JSON in several styles, key-value lines, tables, or plain sentences."""

from __future__ import annotations

import json
from random import Random

from evaluation.evidence.structured import as_sentences
from evaluation.synthetic_claims.facts import Record


def render_record(record: Record, chance: Random) -> str:
    """Return the record as text in a random form. Up to 40 % become plain sentences, as the verifier reads them."""
    if record.rows and chance.random() < 0.75:
        text = _table(record, chance)
    elif isinstance(record.value, dict) and chance.random() < 0.2:
        text = _lines(record.value, chance)
    else:
        text = _json(record.value, chance)
    if chance.random() < 0.4:
        reading = as_sentences(text)
        if reading is not None:
            return " ".join(sentence.text for sentence in reading.sentences)
    return text


def _json(value: object, chance: Random) -> str:
    way = chance.random()
    if way < 0.35:
        return json.dumps(value, ensure_ascii=False)
    if way < 0.65:
        return json.dumps(value, indent=chance.choice((1, 2, 4)), ensure_ascii=False)
    return repr(value)  # Python literal: single quotes, True, None


def _lines(value: dict[str, object], chance: Random) -> str:
    mark = chance.choice((": ", ": ", " = ", " - "))
    lines = []
    for key, item in value.items():
        if isinstance(item, dict):
            lines += [f"{key} {inner}{mark}{_plain(v)}" for inner, v in item.items()]
        else:
            lines.append(f"{key}{mark}{_plain(item)}")
    return "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(_plain(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    return "" if value is None else str(value)


def _table(record: Record, chance: Random) -> str:
    keys = list(record.rows[0])
    rows = [[row[key] for key in keys] for row in record.rows]
    way = chance.random()
    if way < 0.5:
        rule = "|" + "|".join("---" for _ in keys) + "|"
        return "\n".join(["| " + " | ".join(keys) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)])
    mark = "," if way < 0.8 else "\t" if way < 0.9 else ";"
    quoted = [[f'"{cell}"' if mark in cell else cell for cell in row] for row in rows]
    return "\n".join([mark.join(keys), *(mark.join(row) for row in quoted)])
