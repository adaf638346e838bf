"""Languages that are surely not English are named; names, numbers and short answers are of none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation.language.language_detection import other_language
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import OTHER_LANGUAGE, EntailmentVerifier
from evaluation.verifiers.verifier import VerificationItem, failed
from model.pairs.scoring import Pair


@pytest.mark.parametrize(
    "text",
    [
        "The mill has been closed for three years.",
        "Marn",
        "1820",
        "7 kg",
        "Jean-Claude Van Damme",
        "Rio de Janeiro",
        "Los Angeles is in California",
        "de facto king of the De La Rosa family",
        "Plants die without water and die in heat",
        "",
        "[1]",
    ],
)
def test_english_and_what_cannot_be_told(text: str) -> None:
    assert other_language(text) == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Mühle ist seit drei Jahren geschlossen.", "German"),
        ("Le moulin est fermé depuis trois ans.", "French"),
        ("El molino está cerrado desde hace tres años.", "Spanish"),
        ("O moinho está fechado há três anos.", "Portuguese"),
        ("Il mulino è chiuso da tre anni.", "Italian"),
        ("De molen is al drie jaar gesloten.", "Dutch"),
        ("Мельница закрыта три года.", "a language in Cyrillic script"),
        ("磨坊关闭三年了。", "Chinese or Japanese"),
        ("水車は三年前に閉まった。", "Japanese"),
        ("방앗간은 3년 동안 닫혔다.", "Korean"),
        ("الطاحونة مغلقة منذ ثلاث سنوات.", "a language in Arabic script"),
    ],
)
def test_other_languages(text: str, language: str) -> None:
    assert other_language(text) == language


class English:
    """A scorer that was made for English and passes everything."""

    name = "english"
    languages = ("English",)

    def room(self, claim: str, question: str = "") -> int:
        return 100

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(t.split()) for t in texts]

    def score(self, pairs: Sequence[Pair], progress: object = None) -> tuple[float, ...]:
        return (1.0,) * len(pairs)


class Unlimited(English):
    """One of which nothing is said."""

    languages = ()


def label(scorer: English, answer: str, context: str) -> tuple[str, str]:
    verifier = EntailmentVerifier(scorer, ContextEvidence({"q": [context]}))
    question = AnsweredQuestion("q", "How long?")
    extracted = verifier.extract(question, answer)
    ((verdict, *_),) = verifier.verify([VerificationItem(question, extracted.claims, answer)])
    assert not failed(verdict)
    return verdict.label, verdict.reason


def test_what_a_verifier_cannot_read_is_unscored_with_the_reason() -> None:
    german = "Die Mühle ist seit drei Jahren geschlossen."
    found, reason = label(English(), german, "The mill has been closed for three years.")
    assert found == "unscored" and reason.endswith(OTHER_LANGUAGE) and "German" in reason
    found, reason = label(English(), "The mill has been closed for years.", german)
    assert found == "unscored" and "evidence" in reason
    assert label(English(), "1820", german)[0] == "supported"
    assert label(Unlimited(), german, german)[0] == "supported"
