"""Citation recall and precision of single sentences, as defined by ALCE.

Gao et al. 2023, "Enabling Large Language Models to Generate Text with Citations", section 3. A sentence is recalled if
it has citations and the cited chunks, taken together, entail it. A citation is precise if its sentence is recalled and
the citation is not irrelevant. A citation is irrelevant if it alone does not entail the sentence and the other
citations do without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from data.questions import Question
from evaluation.citations.attribution import CitedSentence
from evaluation.outcomes import Claim, Verdict
from evaluation.verifiers.verifier import VerificationItem
from generation.prompt import PromptChunk

BATCH_SIZE: Final = 64

Verify = Callable[[Sequence[VerificationItem]], Sequence[Sequence[Verdict]]]
"""Function that judges claims by the chunks shown with them (evaluation.verifiers.faithful.FaithfulVerifier.verify)."""


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """An answer with the chunks that it was given, numbered from 1. key: identifier chosen by the caller."""

    key: int
    question: Question
    text: str
    sentences: tuple[CitedSentence, ...]
    chunks: tuple[PromptChunk, ...]


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence with the verifier's judgement of its citations.

    recalled: whether the cited chunks together support the sentence; None if the verifier gave no verdict, and
    ``reason`` says why. precise, needless: citation numbers. A citation that is neither is wrong: the cited chunks do
    not support the sentence.
    """

    claim: Claim
    numbers: tuple[int, ...]
    recalled: bool | None
    precise: tuple[int, ...] = ()
    needless: tuple[int, ...] = ()
    reason: str = ""

    @property
    def wrong(self) -> tuple[int, ...]:
        """Citations of a sentence that is not supported."""
        return self.numbers if self.recalled is False else ()


def judge_citations(
    answers: Sequence[AnswerToJudge], verify: Verify, progress: Callable[[int, int], None] | None = None
) -> dict[int, tuple[JudgedSentence, ...]]:
    """Judge every sentence of every answer. Each (sentence, set of chunks) is judged once.

    Returns the judged sentences by answer key. progress: called with (done, total) numbers of sets. Raises the errors
    of the verifier.
    """
    wanted: dict[tuple[int, Claim, tuple[int, ...]], VerificationItem] = {}
    for answer in answers:
        by_number = {chunk.number: chunk for chunk in answer.chunks}
        for sentence in answer.sentences:
            for numbers in _sets(sentence.numbers):
                shown = tuple(by_number[n] for n in numbers if n in by_number)
                item = VerificationItem(answer.question, (sentence.claim,), answer.text, shown)
                wanted.setdefault((answer.key, sentence.claim, numbers), item)
    keys = list(wanted)
    labels: dict[tuple[int, Claim, tuple[int, ...]], Verdict] = {}
    for start in range(0, len(keys), BATCH_SIZE):
        batch = keys[start : start + BATCH_SIZE]
        for key, verdicts in zip(batch, verify([wanted[key] for key in batch]), strict=True):
            labels[key] = verdicts[0]
        if progress is not None:
            progress(min(start + BATCH_SIZE, len(keys)), len(keys))
    found: dict[int, tuple[JudgedSentence, ...]] = {}
    for answer in answers:
        mine = {(claim, numbers): verdict for (key, claim, numbers), verdict in labels.items() if key == answer.key}
        found[answer.key] = tuple(_judged(sentence, mine) for sentence in answer.sentences)
    return found


def _sets(numbers: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the sets of citations to judge: all together and, with several citations, each alone and each left out."""
    if len(numbers) < 2:
        return [numbers] if numbers else []
    alone = [(n,) for n in numbers]
    without = [tuple(m for m in numbers if m != n) for n in numbers]
    return list(dict.fromkeys([numbers, *alone, *without]))


def _judged(sentence: CitedSentence, verdicts: Mapping[tuple[Claim, tuple[int, ...]], Verdict]) -> JudgedSentence:
    numbers = sentence.numbers
    if not numbers:
        return JudgedSentence(sentence.claim, (), False)
    claim = sentence.claim
    together = verdicts[claim, numbers]
    if together.label == "unscored":
        return JudgedSentence(sentence.claim, numbers, None, reason=together.reason)
    if together.label != "supported":
        return JudgedSentence(sentence.claim, numbers, False)
    needless = tuple(
        n
        for n in numbers
        if len(numbers) > 1
        and verdicts[claim, (n,)].label != "supported"
        and verdicts[claim, tuple(m for m in numbers if m != n)].label == "supported"
    )
    return JudgedSentence(sentence.claim, numbers, True, tuple(n for n in numbers if n not in needless), needless)
