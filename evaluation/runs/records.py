"""SampleRecord: one sample of a run with its prompt content, completion and verdicts."""

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
    """Event that an arm observes in a response besides its outcome. name: for example "followed the suggestion".

    happened: None if unknown; reason then says why. sought: what was searched for, for display.
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
    """One response of a run; its key is (question_id, arm, decoding, sample).

    sample: from 0.
    completion: None if nothing was generated.
    chunks: as shown in the prompt; omitted: ids of chunks that did not fit.
    failure: the part that failed if this made the sample unscored, else "".
    question_text: the arm's text for the question, "" if it is the original.
    observed: events observed by the arm.
    policy: what the arm's policy did, None without policies.
    selected: verdicts of the verifier whose scores the policies use. They are written with the sample, and read by
        ExtraVerdicts only.
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
    """Make a text storable in every database: replace lone surrogates and NUL by U+FFFD, so offsets hold."""
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
