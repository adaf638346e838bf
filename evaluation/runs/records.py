"""Define SampleRecord, a sample of a run with its prompt content, completion and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.outcomes import AnswerEvaluation, Verdict
from evaluation.policies.record import PolicyRecord
from generation.completion import Completion
from generation.prompt import PromptChunk

Failure = Literal["", "gold", "arm", "retrieval", "prompt", "generator", "verifier"]


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """An event that an arm observes in a response in addition to its outcome.

    name: name of the event, for example "followed the suggestion".
    happened: whether the event happened; None if unknown.
    sought: text that was searched for in the response, for display.
    reason: why ``happened`` is unknown.
    """

    name: str
    happened: bool | None
    sought: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.happened is None and not self.reason:
            raise ValueError(f"{self.name!r} was not observed and no reason is given")


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One response of a run. Its key is (question_id, arm, decoding, sample).

    decoding: label of the decoding.
    sample: number of the sample within cell and decoding, from 0.
    completion: the generated text with its tokens; None if nothing was generated.
    chunks: chunks shown in the prompt.
    omitted: IDs of chunks that did not fit into the prompt.
    failure: the part whose failure made the sample unscored; "" if none failed.
    question_text: the arm's text for the question; "" if it is the original.
    observed: events observed by the arm.
    policy: record of the arm's policies; None without policies.
    selected: verdicts of the verifier whose scores the policies use. They are written with the sample, but only
        ExtraVerdicts reads them.
    """

    question_id: str
    arm: str
    decoding: str
    sample: int
    seed: int
    completion: Completion | None
    chunks: tuple[PromptChunk, ...]
    omitted: tuple[str, ...]
    evaluation: AnswerEvaluation
    failure: Failure = ""
    question_text: str = ""
    observed: tuple[ObservedEvent, ...] = ()
    policy: PolicyRecord | None = None
    selected: tuple[Verdict, ...] = ()


def storable(text: str) -> str:
    """Return the text with lone surrogates and NUL replaced by U+FFFD, so that every database can store it.

    The length does not change, so offsets stay valid.
    """
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
