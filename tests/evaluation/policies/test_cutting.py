# ruff: noqa: E501 - a row is a text, what is wrong in it, and what is left
"""Claims are cut with their punctuation, citations and list marks; the rest is as it was."""

from __future__ import annotations

import pytest

from evaluation.claims.splitting import extract_by
from evaluation.policies.cutting import cut_spans, shifted, without_leading_marks, without_spans
from retrieval.chunking.sentences import Span

CASES = [
    ("Otters swim [1]. Pigs fly [2]. Cows graze [1].", "Pigs fly", "Otters swim [1]. Cows graze [1]."),
    ("Otters swim. [1] Pigs fly. [2] Cows graze. [3]", "Pigs fly", "Otters swim. [1] Cows graze. [3]"),
    ("Pigs fly at night. [2][3] Cows graze by day [1].", "Pigs fly", "Cows graze by day [1]."),
    ("Otters swim in rivers.\nPigs fly at night.", "Pigs fly", "Otters swim in rivers."),
    ("Known:\n- Otters swim [1].\n- Pigs fly [2].\n- Cows graze.", "Pigs fly", "Known:\n- Otters swim [1].\n- Cows graze."),
    ("1. Pigs fly at night.\n2. Cows graze by day.", "Pigs fly", "2. Cows graze by day."),
    ("1) Otters swim daily.\n2) Pigs fly at night.", "Pigs fly", "1) Otters swim daily."),
    ('Otters swim daily. "Pigs fly at night." Cows graze.', "Pigs fly", "Otters swim daily. Cows graze."),
    ("Otters swim daily. (Pigs fly at night.) Cows graze.", "Pigs fly", "Otters swim daily. Cows graze."),
    ("Otters swim daily.\n\nPigs fly at night.\n\nCows graze by day.", "Pigs fly", "Otters swim daily.\n\n\nCows graze by day."),
    ("Les loutres nagent bien ! Les cochons volent bien ! Les vaches broutent.", "cochons", "Les loutres nagent bien ! Les vaches broutent."),
    ("[1] Otters swim daily. [2] Pigs fly at night. [3] Cows graze.", "Pigs fly", "[1] Otters swim daily. [3] Cows graze."),
    ("Otters eat 3.5 kg a day (Source 1). Pigs eat 9.5 kg a day (Source 2).", "Pigs", "Otters eat 3.5 kg a day (Source 1)."),
    ("**Otters** swim daily. **Pigs** fly at night. **Cows** graze.", "Pigs", "**Otters** swim daily. **Cows** graze."),
    ("海獭会游泳。[1]猪会在夜里飞行。[2]牛在白天吃草。[3]", "猪", "海獭会游泳。[1]牛在白天吃草。[3]"),
    ("海獭会游泳。[1]猪会在夜里飞行。[2]牛在白天吃草。[3]", "海獭", "猪会在夜里飞行。[2]牛在白天吃草。[3]"),
    ("Otters swim daily.\r\nPigs fly at night.\r\nCows graze.", "Pigs", "Otters swim daily.\r\nCows graze."),
    ("| Animal | Does |\n|---|---|\n| Otter | swims |\n| Pig | flies |\n", "Pig", "| Animal | Does |\n|---|---|\n| Otter | swims |\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrong", "rest"), CASES)
def test_the_rest_reads_as_before(text: str, wrong: str, rest: str) -> None:
    claims = [without_leading_marks(text, Span(c.start, c.end)) for c in extract_by(False, text).claims]
    removed = [wrong in text[c.start : c.end] for c in claims]
    assert any(removed) and not all(removed), [text[c.start : c.end] for c in claims]
    spans = cut_spans(text, claims, removed)
    assert without_spans(text, spans) == rest
    for claim, gone in zip(claims, removed, strict=True):
        if not gone:
            start, end = shifted(claim.start, spans), shifted(claim.end, spans)
            assert without_spans(text, spans)[start:end] == text[claim.start : claim.end]


def test_half_a_sentence_is_not_left() -> None:
    text = "Otters swim and pigs fly at night. Cows graze."
    claims = [Span(0, 11), Span(16, 33), Span(35, 46)]
    assert without_spans(text, cut_spans(text, claims, [False, True, False])) == "Cows graze."


def test_nothing_removed_cuts_nothing() -> None:
    assert cut_spans("Cows graze.", [Span(0, 11)], [False]) == ()
