"""Reading scores of a tiny generator that says what it was told to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.reading_examples import ReadingExample
from evaluation.reading.reading_scores import best_f1, exact_match, score_reading, token_f1
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk


class Parrot:
    """Says what stands in its book for the question; refuses to prompt for what does not stand there."""

    name, fingerprint, context_length = "parrot", "0", 100

    def __init__(self, book: dict[str, str]) -> None:
        self._book = book
        self.shown: list[int] = []

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        if question not in self._book:
            raise GenerationError("too long")
        self.shown.append(len(chunks))
        assert [c.rank for c in chunks] == list(range(1, len(chunks) + 1))
        return Prompt(question, tuple(PromptChunk(c.rank, c, 0, 1) for c in chunks), (), (1,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        assert params.temperature == 0
        return tuple(Completion(self._book[prompt.question], (), (), "stop", Usage(1, 0), seed) for seed in seeds)


def asked(question: str, *answers: str, source: str = "s") -> ReadingExample:
    return ReadingExample(question, answers, "x", "", bool(answers), source)


def test_f1_and_exact_match_by_hand() -> None:
    assert token_f1("Ada Thorne [1]", "ada thorne") == 1.0
    assert token_f1("by Ada Thorne in 1871", "Ada Thorne") == pytest.approx(2 * 2 / (5 + 2))
    assert token_f1("the the a", "") == token_f1("x", "y") == 0.0
    assert token_f1("", "") == 1.0
    assert token_f1("no no no", "no") == pytest.approx(2 * 1 / 4)  # counted as often as it stands in both
    assert best_f1("Ada", ["Ole", "Ada Thorne", "x"]) == pytest.approx(2 / 3)
    assert exact_match("The Ada-Thorne! [2]", ["nobody", "ada thorne"])
    assert not exact_match("3.5", ["35"])


def test_scores_by_source_and_over_all() -> None:
    book = {
        "right?": "Ada Thorne [1]",
        "half?": "Ada",
        "refused?": "The documents do not answer this.",
        "unknown?": "I do not know.",
        "made up?": "Paris",
    }
    examples = [
        asked("right?", "Ada Thorne"),
        asked("half?", "Ada Thorne"),
        asked("refused?", "Ada"),
        asked("unknown?", source="t"),
        asked("made up?", source="t"),
        asked("made up?", source="t"),
        asked("does not fit?", "Ada", source="u"),
    ]
    chunk = Chunk("d", 0, 1, "x")
    seen: list[tuple[int, int]] = []
    parrot = Parrot(book)
    scores = score_reading(
        parrot, examples, [[chunk] * (n % 3) for n in range(7)], progress=lambda done, total: seen.append((done, total))
    )
    assert [s.source for s in scores] == ["s", "t", "u", "all"]
    s, t, u, everything = scores
    assert (s.answerable, s.unanswerable) == (3, 0)
    assert s.exact_match == pytest.approx(1 / 3)
    assert s.f1 == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert s.no_answer_accuracy is None
    assert s.refused_answerable == pytest.approx(1 / 3)
    assert (t.exact_match, t.f1, t.refused_answerable) == (None, None, None)
    assert t.no_answer_accuracy == pytest.approx(1 / 3)
    assert (u.exact_match, u.f1, u.refused_answerable) == (0, 0, 0)  # an answer was due and none came
    assert (everything.answerable, everything.unanswerable) == (4, 3)
    assert everything.exact_match == pytest.approx(1 / 4)
    assert everything.answers_per_second > 0
    assert seen == [(n, 7) for n in range(1, 8)]
    assert parrot.shown == [0, 1, 2, 0, 1, 2]


def test_no_examples_no_scores() -> None:
    assert score_reading(Parrot({}), [], []) == ()


def test_examples_and_passages_must_match() -> None:
    with pytest.raises(ValueError, match="zip"):
        score_reading(Parrot({"a?": "x"}), [asked("a?", "x")], [])
