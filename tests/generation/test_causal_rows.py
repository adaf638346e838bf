"""Training rows of a decoder checkpoint: the prompt of inference, and an answer with a citation or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from generation.causal.chat_format import chat_frame
from generation.causal.generator import CausalGenerator
from generation.causal.rows import CausalRowWriter
from generation.reader.vocabulary import NO_ANSWER_TEXT
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.tokenizer import Tokenizer
from retrieval.chunking.chunks import Chunk, RetrievedChunk

POSITIONS = 2048
QUESTION = "Who built the lighthouse?"


def shown(*texts: str) -> list[RetrievedChunk]:
    return [
        RetrievedChunk(Chunk(f"d{n}", 0, len(text), text, f"Notes {n}"), 0.0, n)
        for n, text in enumerate(texts, start=1)
    ]


PASSAGES = shown(
    "Nobody knows who drew it. It stands 34 metres high.", "It was built in 1871 by Ada Thorne, and rebuilt."
)


@pytest.fixture(params=[True, False], ids=["chat", "bare"], scope="module")
def folder(request: pytest.FixtureRequest, llama: Callable[..., Path]) -> Path:
    return llama(request.param, positions=POSITIONS)


def writer(folder: Path, context: int = POSITIONS, longest: int = 32) -> CausalRowWriter:
    return CausalRowWriter(folder, context=context, end_id=eos_token_ids(folder)[0], max_answer_tokens=longest)


def decoded(folder: Path, ids: tuple[int, ...]) -> str:
    assert ids[-1] == eos_token_ids(folder)[0]
    return Tokenizer(folder / "tokenizer.json").decode(ids[:-1])


def test_the_prompt_is_the_one_that_the_checkpoint_gets_in_use(folder: Path) -> None:
    row = writer(folder).row(QUESTION, PASSAGES, ("Ada Thorne",))
    assert row is not None
    assert row.prompt == CausalGenerator(folder).prompt(QUESTION, PASSAGES, 40).token_ids


def test_an_answer_is_the_passages_own_words_with_its_number(folder: Path) -> None:
    row = writer(folder).row(QUESTION, PASSAGES, ("ada thorne.",))
    assert row is not None
    assert decoded(folder, row.answer).strip() == "Ada Thorne [2]"


def test_a_blank_opens_the_answer_only_behind_a_bare_prompt(folder: Path) -> None:
    row = writer(folder).row(QUESTION, PASSAGES, ("Ada Thorne",))
    assert row is not None
    assert decoded(folder, row.answer).startswith(" ") == (not chat_frame(folder).after)


def test_what_stands_inside_a_word_only_is_no_answer(folder: Path) -> None:
    assert writer(folder).row("Is it?", shown("Nobody knows a thing."), ("no",)) is None
    row = writer(folder).row("Is it?", shown("Nobody knows a thing.", "They say no."), ("no",))
    assert row is not None
    assert decoded(folder, row.answer).strip() == "no [2]"


def test_what_is_written_alike_comes_first(folder: Path) -> None:
    row = writer(folder).row("Which army?", shown("They told us nothing.", "The US army came."), ("US",))
    assert row is not None
    assert decoded(folder, row.answer).strip() == "US [2]"


def test_what_is_not_answered_is_refused_in_the_words_of_the_instruction(folder: Path) -> None:
    row = writer(folder).row("What did it cost?", PASSAGES, ())
    assert row is not None
    assert decoded(folder, row.answer).strip() == NO_ANSWER_TEXT


def test_without_passages_the_first_answer_that_is_one_is_given(folder: Path) -> None:
    row = writer(folder).row(QUESTION, (), ("  ", "Ada Thorne.", "Thorne"))
    assert row is not None
    assert decoded(folder, row.answer).strip() == "Ada Thorne"
    unknown = writer(folder).row(QUESTION, (), ())
    assert unknown is not None
    assert decoded(folder, unknown.answer).strip() == "I do not know."
    assert writer(folder).row(QUESTION, (), (" .",)) is None


def test_what_does_not_fit_is_left_out(folder: Path) -> None:
    assert writer(folder, context=64).row(" ".join(["why"] * 200), PASSAGES, ("Ada Thorne",)) is None
    assert writer(folder, longest=2).row(QUESTION, shown(" ".join(["word"] * 60)), (" ".join(["word"] * 50),)) is None
    assert writer(folder).row(" ", PASSAGES, ("Ada Thorne",)) is None


def test_an_answer_that_the_prompt_has_no_room_for_is_not_made_up(folder: Path) -> None:
    far = shown("It stands on a rock. " * 12, "It was built in 1871 by Ada Thorne.")
    full = writer(folder).row(QUESTION, far, ("Ada Thorne",))
    first = writer(folder).row(QUESTION, far[:1], ())
    assert full is not None and first is not None
    room = len(first.prompt) + 40  # enough for the first passage and an answer
    assert writer(folder, context=room).row(QUESTION, far, ("Ada Thorne",)) is None
    refused = writer(folder, context=room).row(QUESTION, far, ())
    assert refused is not None and refused.length <= room
    assert "Ada" not in Tokenizer(folder / "tokenizer.json").decode(refused.prompt)
