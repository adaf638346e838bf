"""Citation precision and recall of an arm, with intervals clustered by question, and a list of faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evaluation.citations.judging import JudgedSentence
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.measure import Resampler, measure_ratio

MAX_LISTED: Final = 20
Fault = Literal["wrong", "missing", "needless"]


@dataclass(frozen=True, slots=True)
class FaultyCitation:
    """One citation fault.

    fault: "wrong": the cited chunks do not support the sentence. "missing": the sentence has no citation. "needless":
    the other citations suffice. numbers: numbers of the cited chunks; empty for "missing".
    """

    fault: Fault
    question_id: str
    sample: int
    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ArmCitations:
    """Citation figures of one arm.

    answers: number of answers with a claim.
    sentences, citations: numbers of judged sentences and of their citations.
    unscored: number of sentences that the verifier could not judge; they count in neither rate.
    recall: share of the judged sentences that their citations support. precision: share of the citations that are
    precise. Each is undefined if there is nothing to count.
    wrong, needless: numbers of citations with this fault. missing: number of sentences without a citation.
    faults: at most ``MAX_LISTED`` faults of each kind.
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
    """Compute the citation figures of one arm.

    judged: question ID, sample and sentences of each answer of the arm with at least one claim.
    """
    order = list(dict.fromkeys(question for question, _, _ in judged))
    index_of = {question: number for number, question in enumerate(order)}
    recalled, sentences, precise, citations = (np.zeros(len(order)) for _ in range(4))
    unscored = wrong = missing = needless = 0
    faults: list[FaultyCitation] = []
    for question, sample, mine in judged:
        row = index_of[question]
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
    event = "a sentence that its citations support"
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
        tuple(_first_of_each_kind(faults)),
    )


def _faults(question: str, sample: int, sentence: JudgedSentence) -> Iterable[FaultyCitation]:
    text = sentence.claim.text
    if sentence.wrong:
        yield FaultyCitation("wrong", question, sample, text, sentence.wrong)
    if not sentence.numbers:
        yield FaultyCitation("missing", question, sample, text, ())
    if sentence.needless:
        yield FaultyCitation("needless", question, sample, text, sentence.needless)


def _first_of_each_kind(faults: Sequence[FaultyCitation]) -> Iterable[FaultyCitation]:
    for kind in ("wrong", "missing", "needless"):
        yield from [fault for fault in faults if fault.fault == kind][:MAX_LISTED]
