"""Hand-written samples for tests of the analyses of a run."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from evaluation.outcomes import Claim, Label, Outcome, Verdict, outcome_of
from evaluation.runs.records import ObservedEvent, SampleRecord
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig
from generation.completion import Completion, Usage
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk


def sample(
    question: str,
    labels: Sequence[Label] = ("supported",),
    *,
    arm: str = "rag",
    decoding: Decoding | None = None,
    number: int = 0,
    words: Sequence[str] = (),
    logprobs: Sequence[float] = (-0.1,),
    chunks: Sequence[Chunk] = (),
    observed: Sequence[ObservedEvent] = (),
) -> SampleRecord:
    """Return a response whose claims have these labels; without labels it is an abstention.

    words: texts of the claims.
    """
    verdicts, texts, offset = [], [], 0
    for i, label in enumerate(labels):
        text = words[i] if words else f"Claim {i}."
        support = {"supported": 1.0, "unscored": None}.get(label, 0.0)
        claim = Claim(text, offset, offset + len(text))
        verdicts.append(Verdict(claim, label, support, "why" if support is None else "", (), "judge/1"))
        texts.append(text)
        offset += len(text) + 1
    evaluation = outcome_of(tuple(verdicts), refused=not labels)
    usage = Usage(5, len(logprobs))
    text = " ".join(texts) or "I do not know."
    completion = Completion(text, tuple(range(len(logprobs))), tuple(logprobs), "stop", usage, number)
    shown = tuple(PromptChunk(n, RetrievedChunk(c, 1.0, n), 0, len(c.text)) for n, c in enumerate(chunks, 1))
    label = (decoding or Decoding()).label
    return SampleRecord(
        question, arm, label, number, number, completion, shown, (), evaluation, observed=tuple(observed)
    )


def answer(question: str, outcome: Outcome, **fields: object) -> SampleRecord:
    """Return a response of one claim with this outcome."""
    labels: dict[str, tuple[Label, ...]] = {
        "supported": ("supported",), "hallucinated": ("unverifiable",), "unscored": ("unscored",), "abstained": (),
    }  # fmt: skip
    return sample(question, labels[outcome], **fields)  # type: ignore[arg-type]


def config(arms: Sequence[str] = ("rag",), samples: int = 2, grid: Sequence[Decoding] = ()) -> RunConfig:
    """Return the configuration of a run with these arms."""
    specs = tuple(ArmSpec(name, "") for name in arms)
    return RunConfig("0", specs, samples, Decoding(), 0, "g", "judge/1", "0", grid=tuple(grid))


@pytest.fixture(scope="session")
def desk() -> SimpleNamespace:
    """Return the functions above, because a conftest cannot be imported."""
    return SimpleNamespace(sample=sample, answer=answer, config=config)
