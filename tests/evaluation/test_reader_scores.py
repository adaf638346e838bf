"""A reader's figures with limits, and texts compared as SQuAD's script compares them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.reading_examples import ReadingExample
from evaluation.reading.reader_scores import score_reader_answers
from evaluation.reading.squad_metric import squad_exact, squad_f1, squad_tokens
from generation.completion import Citation, Completion, Usage
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


class Parrot:
    """Says the word after "say", cites it, and refuses to prompt for "too long"."""

    name, fingerprint, context_length = "parrot", "0", 100

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        if "too long" in question:
            raise GenerationError("too long")
        return Prompt(question, (), (), (1,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        answer = prompt.question.partition("say ")[2]
        citation = (Citation(1, len(answer) + 1, len(answer) + 4),) if answer else ()
        text = f"{answer} [1]" if answer else "The documents do not answer this."
        return tuple(Completion(text, (), (), "stop", Usage(1, 0), seed, citation) for seed in seeds)


def asked(question: str, *answers: str, source: str = "s", title: str = "T") -> ReadingExample:
    return ReadingExample(question, answers, "x", title, bool(answers), source)


def test_texts_are_compared_as_the_script_does() -> None:
    assert squad_tokens("The  U.S.-led an' a plan") == ("usled", "plan")
    assert squad_tokens("theatre") == ("theatre",)
    assert squad_exact("Ada-Thorne", ["x", "the adathorne!"])
    assert not squad_exact("3.5", ["3 5"])
    assert squad_f1("by Ada Thorne in 1871", ["Ole", "Ada Thorne"]) == pytest.approx(4 / 7)
    assert squad_f1("the", ["a"]) == 1.0
    assert squad_f1("the", ["Ada"]) == squad_f1("x", []) == 0.0


def test_figures_by_hand() -> None:
    examples = [
        asked("say Ada Thorne", "Ada Thorne", "Ada"),
        asked("say Ada", "Ada Thorne"),
        asked("refuse", "Ada"),
        asked("say Ada", title="U"),
        asked("refuse", title="U"),
        asked("too long", "Ada", source="t"),
        asked("too long", source="t"),
    ]
    seen: list[tuple[int, int]] = []
    report = score_reader_answers(
        Parrot(), examples, [[] for _ in examples], progress=lambda done, total: seen.append((done, total))
    )
    every = report.overall
    assert (every.answerable, every.unanswerable, every.articles) == (4, 3, 3)
    assert every.f1.estimate == pytest.approx((1 + 2 / 3 + 0 + 0) / 4)
    assert every.em.estimate == pytest.approx(1 / 4)
    assert every.no_answer_accuracy.estimate == pytest.approx(1 / 3)
    assert every.refused_answerable.estimate == pytest.approx(1 / 4)
    assert every.f1.lower is not None and every.f1.upper is not None
    assert 0 <= every.f1.lower < every.f1.estimate < every.f1.upper <= 1
    assert "groups" in every.f1.reason
    assert [s.source for s in report.sources] == ["s", "t"]
    assert report.misfits == 2
    assert report.answers_per_second.estimate is not None and report.answers_per_second.lower is not None
    assert seen[-1] == (7, 7)


def test_version_1_has_no_unanswerable_ones() -> None:
    report = score_reader_answers(Parrot(), [asked("say Ada", "Ada")] * 3, [[]] * 3)
    found = report.overall.no_answer_accuracy
    assert (found.estimate, found.lower, found.reason) == (None, None, "no example is unanswerable")
    assert report.overall.em.estimate == 1.0
    assert report.overall.em.lower == pytest.approx(0.025)  # one article


def test_no_examples() -> None:
    report = score_reader_answers(Parrot(), [], [])
    assert report.overall.f1.estimate is None
    assert report.answers_per_second.estimate is None
    assert report.sources == ()
