"""Reasoning and citation marks are not claims, and sentences end at the marks of their script."""

from __future__ import annotations

import pytest

from evaluation.claims.extraction import extract_claims
from evaluation.claims.sentences import extract_sentences
from evaluation.language.citation_marks import without_marks
from generation.causal.answer_part import answer_part


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nOdo had a mill.\n</think>\n\nThe mill burned down.",
        "Odo had a mill.</think> The mill burned down.",
        "<|channel|>analysis<|message|>Odo?<|end|><|start|>assistant<|channel|>final<|message|>"
        "The mill burned down.<|return|>",
        "[THINK]Odo.[/THINK]The mill burned down.",
        "<reasoning>Odo</reasoning>The mill burned down.",
    ],
)
def test_thoughts_are_no_claims(text: str) -> None:
    for extract in (extract_claims, extract_sentences):
        (claim,) = extract(text).claims
        assert claim.text == "The mill burned down."
        assert text[claim.start : claim.end] == claim.text


@pytest.mark.parametrize("text", ["<think>The mill burned down. But", "<think></think>\n<think>once more"])
def test_a_completion_cut_off_in_a_thought_has_no_answer(text: str) -> None:
    assert answer_part(text).cut_off
    found = extract_sentences(text)
    assert not found.claims and not found.refused and "thinking" in found.reason


@pytest.mark.parametrize(
    "mark",
    [
        "[1]",
        "[1, 2]",
        "[1][2]",
        "[2-4]",
        "【3†source】",
        "[^2]",
        "(Source 2)",
        "[doc 4]",
        "(see passage 3)",
        "<sup>2</sup>",
    ],
)
def test_citation_marks_are_no_part_of_a_claim(mark: str) -> None:
    assert without_marks(f"The mill {mark} burned.") == "The mill burned."
    assert [c.text for c in extract_claims(f"The mill burned. {mark}").claims] == ["The mill burned"]
    assert not extract_claims(mark).claims and not extract_claims(mark).refused


@pytest.mark.parametrize("text", ["§ 12(3)", "10³ pallets", "20 m²", "f(x) = 3", "a (very) old mill", "ISO [sic]"])
def test_brackets_and_powers_that_say_something_stay(text: str) -> None:
    assert without_marks(text) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("磨坊在1820年烧毁。奥多没有重建它。村民们很难过！", 3),
        ("水車は燃えた。オドは再建しなかった。", 2),
        ("चक्की जल गई। ओडो ने उसे नहीं बनाया।", 2),
        ("ወፍጮው ተቃጠለ። ኦዶ አልሠራውም።", 2),
        ("စက်ရုံ မီးလောင်သည်။ ပြန်မဆောက်ပါ။", 2),
        ("احترقت الطاحونة. هل بناها أودو؟ لم يبنها أحد.", 2),
    ],
)
def test_full_stops_of_other_scripts_end_sentences(text: str, count: int) -> None:
    claims = extract_sentences(text).claims
    assert len(claims) == count
    assert all(text[c.start : c.end] == c.text for c in claims)
