"""SampleRecord: one sample of a run, with what it was shown, what it said and how it was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.outcomes import AnswerEvaluation
from generation.completion import Completion
from generation.prompt import PromptChunk

Failure = Literal["", "gold", "retrieval", "prompt", "generator", "verifier"]


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One response of a run; (question_id, arm, decoding, sample) is its name.

    sample: from 0. completion: None when nothing was generated. chunks: as the prompt showed them; omitted: ids of
    those that did not fit. failure: which part failed when the sample is unscored for that, else "".
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


def storable(text: str) -> str:
    """A text that every database takes: lone surrogates and NUL become U+FFFD, one for one, so that offsets hold."""
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
