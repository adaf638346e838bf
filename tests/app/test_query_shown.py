"""Output of ``plumbline query``: streamed text, a mark on cut answers, verdicts with reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest

from app.answering.answer_parts import Answer, Timings
from app.answering.streamed_answer import generate_streamed
from app.answers import QueryRequest, QueryResult
from app.commands.query import CUT, Streamed, show
from app.console import Output
from evaluation.outcomes import Claim, Verdict, outcome_of
from generation.completion import Completion, FinishReason, TextDelta, Usage
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, Generator
from generation.live import FinishedRequest
from generation.prompt import Prompt


def completion(text: str, reason: FinishReason = "stop") -> Completion:
    return Completion(text, (), (), reason, Usage(1, 1), 0)


def result(text: str, reason: FinishReason) -> QueryResult:
    answers = (Answer(completion(text, reason)),)
    return QueryResult("id", QueryRequest("Why?"), None, None, "m", answers, (), Timings(0, 0))


class Speaking:
    """A generator that streams given events and supports only ``begin``."""

    def __init__(self, events: Sequence[TextDelta | FinishedRequest | Exception]) -> None:
        self.events, self.cancelled = events, False

    def begin(
        self, task: GenerationTask, listener: Callable[[TextDelta | FinishedRequest | Exception], None]
    ) -> Speaking:
        for event in self.events:
            listener(event)
        return self

    def cancel(self) -> None:
        self.cancelled = True

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        return (completion("in silence"),)


def aloud(speaking: Speaking, heard: list[str] | None) -> str:
    on_text = None if heard is None else (lambda delta: heard.append(delta.text))
    prompt = cast("Prompt", None)  # nothing reads it here
    return generate_streamed(cast("Generator", speaking), prompt, SamplingParams(), [0], on_text)[0].text


def test_text_is_heard_as_it_is_drawn() -> None:
    heard: list[str] = []
    full = completion("Nine o'clock")
    assert aloud(Speaking([TextDelta("Nine "), TextDelta("o'clock"), FinishedRequest((full,))]), heard) == full.text
    assert "".join(heard) == full.text


def test_nobody_listening_draws_in_silence() -> None:
    assert aloud(Speaking([]), None) == "in silence"


def test_an_error_while_drawing_cancels_and_is_raised() -> None:
    speaking = Speaking([TextDelta("Ni"), ValueError("lost")])
    with pytest.raises(ValueError, match="lost"):
        aloud(speaking, [])
    assert speaking.cancelled


@pytest.mark.parametrize(("reason", "marked"), [("length", True), ("stop", False), ("deadline", False)])
def test_a_cut_answer_is_marked(reason: FinishReason, marked: bool, capsys: pytest.CaptureFixture[str]) -> None:
    show(result("The quay is", reason), Output(as_json=False))
    shown = capsys.readouterr()
    assert (CUT in shown.out) == marked
    assert ("--max-tokens" in shown.err) == marked


def test_a_streamed_answer_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=False)
    streamed = Streamed(output)
    streamed.write(TextDelta("Five\x1b[31m "))
    streamed.write(TextDelta("metres"))
    streamed.end(cut=True)
    show(result("Five metres", "length"), output, texts=not streamed.written)
    assert capsys.readouterr().out == f"Five\\x1b[31m metres{CUT}\n"


def test_verdicts_come_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    claims = (Claim("It is deep.", 0, 11), Claim("It is red.", 12, 22))
    verdicts = (
        Verdict(claims[0], "supported", 0.9, "best of 1", (), "v"),
        Verdict(claims[1], "contradicted", 0.1, "the evidence says blue", (), "v"),
    )
    judged = result("It is deep. It is red.", "stop")
    answer = replace(judged.answers[0], evaluation=outcome_of(verdicts, refused=False))
    show(replace(judged, answers=(answer,)), Output(as_json=False))
    out = capsys.readouterr().out
    assert "verdict: hallucinated" in out
    assert "contradicted: It is red." in out and "because: the evidence says blue" in out
    assert "best of 1" not in out  # of what is supported the evidence says enough
