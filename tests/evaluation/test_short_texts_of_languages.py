"""Answers of a few words in other languages are told from English ones, and from names, titles, numbers and code."""

from __future__ import annotations

import pytest

from evaluation.language.language_detection import other_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Neljä viikkoa.", "Finnish"),
        ("Kone painaa 80 kiloa.", "Finnish"),
        ("Avain löytyy keittiöstä.", "Finnish"),
        ("Vain sunnuntaisin ja keskiviikko.", "Finnish"),
        ("Vier Wochen.", "German"),
        ("Nur freitags, ab acht Uhr.", "German"),
        ("Die Leitung wiegt 9 kg.", "German"),
        ("Nein, nach dem Umbau.", "German"),
        ("Trois mois.", "French"),
        ("Près du pont.", "French"),
        ("Cuatro semanas.", "Spanish"),
        ("Quatro meses.", "Portuguese"),
        ("Ogni venerdì.", "Italian"),
        ("Elke woensdag.", "Dutch"),
        ("Cztery tygodnie.", "Polish"),
        ("Dört hafta.", "Turkish"),
        ("Fyra veckor.", "Swedish"),
        ("Čtyři týdny.", "Czech"),
    ],
)
def test_short_answers_in_other_languages(text: str, language: str) -> None:
    assert other_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "Four weeks.",
        "Every Wednesday",
        "a month and a half",
        "as a water tower",
        "Die Toten Hosen",
        "Der Standard",
        "La Boqueria",
        "Il Gattopardo",
        "Tre Cime",
        "Sept-Îles",
        "Ja Morant",
        "Mika Häkkinen",
        "Gro Harlem Brundtland",
        "Dún Laoghaire",
        "Ludwig van Beethoven",
        "Vasco da Gama",
        "São Tomé",
        "Lima",
        "Pero",
        "jalapeño and crème fraîche",
        "c'est la vie",
        "anna@example.fi",
        "https://example.de/ueber-uns",
        "let total = 12;",
        "SELECT name FROM t",
        "14.5 kg",
        "",
    ],
)
def test_short_english_names_and_code_are_of_no_language(text: str) -> None:
    assert other_language(text) == ""
