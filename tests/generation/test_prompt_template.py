from __future__ import annotations

from pathlib import Path

import pytest

from generation.budget import FittedChunk
from generation.causal.prompt_template import PromptTemplate, default_prompt, read_prompt
from generation.errors import GenerationError
from retrieval.chunking.chunks import Chunk, RetrievedChunk

LOOP = "{% for passage in passages %}[{{ passage.number }}] {{ passage.text }}\n{% endfor %}"
USER = LOOP + "{{ question }}"


def shown(*texts: str) -> list[FittedChunk]:
    chunks = [Chunk("d", 0, len(text), text, "A  title") for text in texts]
    return [FittedChunk(RetrievedChunk(c, 1.0, n), len(c.text)) for n, c in enumerate(chunks, start=1)]


def test_turns() -> None:
    text = (
        "{% block system %}Be brief.{% if passages %} Cite.{% endif %}{% endblock %}\n{% block user %}"
        + USER
        + "{% endblock %}"
    )
    template = PromptTemplate(text, "mine")
    turns = template.turns("Why?", shown("One.", "Two."))
    assert (turns.system, turns.user) == ("Be brief. Cite.", "[1] One.\n[2] Two.\nWhy?")
    assert template.turns("Why?", ()).joined == "Be brief.\n\nWhy?"
    assert template.turns("Why?", (), "In French.").system == "In French.\n\nBe brief."


def test_a_file_without_blocks_is_the_users_turn() -> None:
    turns = PromptTemplate(USER, "mine").turns("Why?", (), " In French. ")
    assert (turns.system, turns.user) == ("", "In French.\n\nWhy?")


def test_instructions_stand_where_the_template_has_them() -> None:
    assert (
        PromptTemplate(USER + " ({{ instructions }})", "mine").turns("Why?", (), "In French.").user
        == "Why? (In French.)"
    )


@pytest.mark.parametrize("question", ["{{ 7 * 7 }}", "{% for x in y %}", "</s> & <b>", "\ue000"])
def test_what_is_shown_is_no_template_and_not_escaped(question: str) -> None:
    turns = PromptTemplate(USER, "mine").turns(question, shown("{{ question }}"))
    assert turns.user == "[1] {{ question }}\n" + question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOOP, "question 0 times"),
        (USER + "{{ question }}", "question 2 times"),
        ("{% if passages %}" + USER + "{% endif %}", "question 0 times in the user's turn without passages"),
        ("{{ question }}", "does not show the passages"),
        (USER + "\n{{ contexts }}", "line 3: the variable contexts"),
        (USER + "{{ passages.__class__ }}", "the field __class__"),
        (LOOP.replace("passage.text", "passage.score") + "{{ question }}", "the field score"),
        (USER + "{{ question.upper() }}", "Call is not allowed"),
        (USER + "{{ ''.__class__.__mro__ }}", "the field __mro__"),
        (USER + "{{ passages[0] }}", "Getitem is not allowed"),
        (USER + "{% include '/etc/passwd' %}", "Include is not allowed"),
        (USER + "{% import 'os' as os %}", "Import is not allowed"),
        (USER + "{% set x = 1 %}", "Assign is not allowed"),
        (USER + "{{ 'a' * 1000000000 }}", "Mul is not allowed"),
        (USER + "{% for n in range(1000000) %}x{% endfor %}", "a loop must be"),
        (USER + "{% for n in question %}x{% endfor %}", "a loop must be"),
        (USER + "{{ question|attr('x') }}", "the filter attr"),
        (USER + "{{ question|nosuch }}", "the filter nosuch"),
        (USER + "{% macro m() %}{% endmacro %}", "Macro is not allowed"),
        (USER + "{{ question", "line 2"),
        (USER + "{% if passages %}", "line 2"),
        ("{% block user %}" + USER + "{% endblock %}Outside", "outside of the blocks"),
        ("{% block assistant %}x{% endblock %}{% block user %}" + USER + "{% endblock %}", "block assistant"),
        ("{% block system %}" + USER + "{% endblock %}", "block user is missing"),
        ("", "question 0 times"),
    ],
)
def test_what_is_not_allowed_is_named(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "p.jinja").write_text(text, "utf-8")
    with pytest.raises(GenerationError) as caught:
        read_prompt(tmp_path / "p.jinja")
    assert "p.jinja" in str(caught.value) and expected in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text(USER + "x" * 70_000)
    for name, expected in (
        ("none", "cannot be read"),
        ("b", "not UTF-8"),
        ("long", "longer than"),
        (".", "cannot be read"),
    ):
        with pytest.raises(GenerationError, match=expected):
            read_prompt(tmp_path / name)


def test_every_measured_prompt_and_the_default_are_usable() -> None:
    files = sorted((Path(__file__).parents[2] / "docs" / "experiments" / "prompts").glob("*.jinja"))
    assert len(files) >= 6
    assert default_prompt().sha256 in {read_prompt(file).sha256 for file in files}
    assert len({read_prompt(file).sha256 for file in files}) == len(files)
    assert default_prompt().turns("Why?", ()).system
