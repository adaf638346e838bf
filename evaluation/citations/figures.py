"""Citation precision and recall of an arm, with intervals clustered by question, and what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluation.citations.judging import JudgedSentence
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler, measure_ratio

LISTED: Final = 20
Fault = Literal["wrong", "missing", "needless"]


@dataclass(frozen=True, slots=True)
class FaultyCitation:
    """wrong: what is cited does not bear the sentence out; missing: it cites nothing; needless: others suffice.
    numbers: of the chunks cited (empty for a missing one)."""

    fault: Fault
    question_id: str
    sample: int
    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArmCitations:
    """recall: of sentences that can be checked; precision: of citations. Both are undefined where there are none.

    answers: with a claim. sentences, citations: that were judged. unscored: sentences that the verifier could not
    judge, in neither rate. wrong, needless: citations; missing: sentences. faults: at most LISTED of each.
    """

    arm: str
    answers: int
    sentences: int
    citations: int
    unscored: int
    recall: HallucinationEstimate
    precision: HallucinationEstimate
    wrong: int
    missing: int
    needless: int
    faults: tuple[FaultyCitation, ...]


def arm_citations(
    arm: str, judged: Sequence[tuple[str, int, Sequence[JudgedSentence]]], resampler: Resampler
) -> ArmCitations:
    """judged: question id, sample and sentences of every answer of the arm that claims something."""
    order = list(dict.fromkeys(question for question, _, _ in judged))
    place = {question: number for number, question in enumerate(order)}
    recalled, sentences, precise, citations = (np.zeros(len(order)) for _ in range(4))
    unscored = wrong = missing = needless = 0
    faults: list[FaultyCitation] = []
    for question, sample, mine in judged:
        row = place[question]
        for sentence in mine:
            if sentence.recalled is None:
                unscored += 1
                continue
            sentences[row] += 1
            citations[row] += len(sentence.numbers)
            recalled[row] += sentence.recalled
            precise[row] += len(sentence.precise)
            wrong, needless = wrong + len(sentence.wrong), needless + len(sentence.needless)
            missing += not sentence.numbers
            faults += _faults(question, sample, sentence)
    event = "a sentence that its citations bear out"
    return ArmCitations(
        arm,
        len(judged),
        int(sentences.sum()),
        int(citations.sum()),
        unscored,
        measure_ratio(recalled, sentences, int(sentences.sum()), resampler, event=event).default,
        measure_ratio(precise, citations, int(citations.sum()), resampler, event="a precise citation").default,
        wrong,
        missing,
        needless,
        tuple(_some(faults)),
    )


def _faults(question: str, sample: int, sentence: JudgedSentence) -> Iterable[FaultyCitation]:
    text = sentence.claim.text
    if sentence.wrong:
        yield FaultyCitation("wrong", question, sample, text, sentence.wrong)
    if not sentence.numbers:
        yield FaultyCitation("missing", question, sample, text, ())
    if sentence.needless:
        yield FaultyCitation("needless", question, sample, text, sentence.needless)


def _some(faults: Sequence[FaultyCitation]) -> Iterable[FaultyCitation]:
    for kind in ("wrong", "missing", "needless"):
        yield from [fault for fault in faults if fault.fault == kind][:LISTED]
