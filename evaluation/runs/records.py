"""SampleRecord: one sample of a run, with what it was shown, what it said and how it was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.outcomes import AnswerEvaluation
from generation.completion import Completion
from generation.prompt import PromptChunk

Failure = Literal["", "gold", "arm", "retrieval", "prompt", "generator", "verifier"]


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """What an arm looks for in a response beside its outcome. name: of the event ("followed the suggestion").

    happened: None where it cannot be told; reason then says why. sought: what was looked for, for a person.
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
    """One response of a run; (question_id, arm, decoding, sample) is its name.

    sample: from 0. completion: None when nothing was generated. chunks: as the prompt showed them; omitted: ids of
    those that did not fit. failure: which part failed when the sample is unscored for that, else "". asked: the words
    that the arm put in the question's place, "" where they are the question's own. observed: what the arm looked for.
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
    asked: str = ""
    observed: tuple[ObservedEvent, ...] = ()


def storable(text: str) -> str:
    """A text that every database takes: lone surrogates and NUL become U+FFFD, one for one, so that offsets hold."""
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
