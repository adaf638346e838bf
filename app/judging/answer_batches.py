"""Judge answers of other systems in batches, in this process or in workers, and handle failures of the verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.judging.answer_judge import FAILURES_IN_A_ROW, AnswerJudge
from data.answer_records import AnswerRecord
from evaluation.claims.extraction import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Claim, Verdict, outcome_of
from evaluation.runs.records import storable
from evaluation.verifiers.verifier import FAILED, VerificationItem
from evaluation.verifiers.verifier import failed as verifier_failed

AT_ONCE = 64
"""Maximum number of answers per call of the verifier, and of judged answers that are lost if the process dies."""
_FIRST = min(8, AT_ONCE)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A judged answer. index: index of its record. failed: whether the verifier failed on it."""

    index: int
    evaluation: AnswerEvaluation
    failed: bool = False


JudgeBatches = Callable[[Sequence[Sequence[int]]], Iterator[Sequence[JudgedAnswer]]]
"""Function that yields the results of each batch of record indices, in order."""


def judge_answers(
    records: Sequence[AnswerRecord],
    judge: AnswerJudge,
    known: Mapping[int, AnswerEvaluation] | None = None,
    progress: Callable[[int, int], None] | None = None,
    elsewhere: JudgeBatches | None = None,
) -> Iterator[tuple[JudgedAnswer, ...]]:
    """Judge answers in batches and yield the results of each batch, in order.

    known: evaluations by record index; these answers are not judged. progress: called with judged and total answers.
    elsewhere: judges several batches in parallel, each with its own count of failures; by default they are judged here.

    If the verifier fails on a batch, its answers are judged one by one. An answer on which it fails is unscored, with
    the error as reason. After FAILURES_IN_A_ROW consecutive failures the verifier is not called again.
    """
    known = known or {}
    open_indices = [i for i in range(len(records)) if i not in known]
    done = len(records) - len(open_indices)
    if progress is not None:
        progress(done, len(records))
    in_a_row = 0
    batches = list(_growing(open_indices))
    results = None if elsewhere is None else elsewhere(batches)
    for indices in batches:
        if in_a_row >= FAILURES_IN_A_ROW:
            found = [JudgedAnswer(i, AnswerEvaluation("unscored", (), _GIVEN_UP), True) for i in indices]
        else:
            found = judge_batch(records, judge, indices, in_a_row) if results is None else list(next(results))
            for one in found:
                in_a_row = in_a_row + 1 if one.failed else 0
        done += len(found)
        if progress is not None:
            progress(done, len(records))
        yield tuple(found)


def judge_batch(
    records: Sequence[AnswerRecord], judge: AnswerJudge, indices: Sequence[int], in_a_row: int = 0
) -> list[JudgedAnswer]:
    """Judge these answers in one call, or one by one if the call fails.

    in_a_row: number of consecutive failures before this batch.
    """
    try:
        return _judge(records, judge, indices)
    except Exception:  # judge one by one to find the failing answer
        found = []
        for i in indices:
            one = _judge_one(records, judge, i, in_a_row)
            in_a_row = in_a_row + 1 if one.failed else 0
            found.append(one)
        return found


def _growing(indices: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield batches that double in size up to AT_ONCE, so that the small first ones soon give a time estimate."""
    start, size = 0, _FIRST
    while start < len(indices):
        yield indices[start : start + size]
        start, size = start + size, min(2 * size, AT_ONCE)


_GIVEN_UP = f"the verifier failed on {FAILURES_IN_A_ROW} answers in a row and was not called again"


def _judge_one(records: Sequence[AnswerRecord], judge: AnswerJudge, index: int, in_a_row: int) -> JudgedAnswer:
    if in_a_row >= FAILURES_IN_A_ROW:
        return JudgedAnswer(index, AnswerEvaluation("unscored", (), _GIVEN_UP), True)
    try:
        return _judge(records, judge, [index])[0]
    except Exception as error:  # one answer must not end the scoring
        message = f"{type(error).__name__}: {error}"[:500]
        return JudgedAnswer(index, AnswerEvaluation("unscored", (), storable(f"{FAILED}: {message}")), True)


def _judge(records: Sequence[AnswerRecord], judge: AnswerJudge, indices: Sequence[int]) -> list[JudgedAnswer]:
    verifier = judge.verifier
    extracted: dict[int, Extraction] = {}
    for i in indices:
        if records[i].answer.strip():
            extracted[i] = verifier.extract(judge.questions[i], records[i].answer)
    judged = [i for i in extracted if extracted[i].claims and not judge.missing[i]]
    items = [VerificationItem(judge.questions[i], extracted[i].claims, records[i].answer) for i in judged]
    found = verifier.verify(items) if items else ()
    if [tuple(v.claim for v in verdicts) for verdicts in found] != [item.claims for item in items]:
        raise EvaluationError("its verdicts do not match the given claims")
    verdicts = dict(zip(judged, found, strict=True))
    results = []
    for i in indices:
        if i not in extracted:
            results.append(JudgedAnswer(i, AnswerEvaluation("unscored", (), "the answer is empty")))
            continue
        own = verdicts[i] if i in verdicts else _unjudged(extracted[i].claims, judge.missing[i], verifier.name)
        results.append(
            JudgedAnswer(i, outcome_of(own, extracted[i].refused, extracted[i].reason), any(map(verifier_failed, own)))
        )
    return results


def _unjudged(claims: Sequence[Claim], reason: str, verifier: str) -> tuple[Verdict, ...]:
    return tuple(Verdict(claim, "unscored", None, reason, (), verifier) for claim in claims)
