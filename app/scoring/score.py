"""Score answers of other systems: judge them, compute rates, and compare the verifier with labels if there are any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from app.errors import USER_ERRORS, AppError
from app.judging.answer_batches import JudgedAnswer, judge_answers
from app.judging.answer_judge import (
    AnswerJudge,
    JudgePlan,
    ScorerLoader,
    answer_key,
    on_this_machine,
    open_answer_judge,
)
from app.judging.distributed import judge_in_workers
from app.scoring.groups import group_names, group_notes, sample_numbers
from app.scoring.result import ScoredAnswer, ScoreResult
from data.answer_records import AnswerRecord
from data.answers import AnswerFile
from data.block_work import BlockExecutor
from evaluation.analysis.abstentions import abstention_line, count_abstentions
from evaluation.detection.metrics import THRESHOLD as MIDDLE
from evaluation.detection.scores import DetectionTable, ScoredStatement, detection_table
from evaluation.outcomes import AnswerEvaluation
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise
from evaluation.verifiers.human_labels import LabelVerifier

MARKED_CLAIMS = 40
"""Maximum number of unsupported claims whose weak words are searched. Each needs up to 24 pairs."""
ALL_PAIRS = 4
"""Maximum number of systems of which all pairs are compared. More systems are each compared with the first one."""


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """Settings with which answers are scored.

    judging: settings of the judge. baseline: arm with which the others are compared; None compares all pairs of at most
    ALL_PAIRS arms. level: level of the intervals. seed: seed of the resampling. marks: whether weak words of the worst
    answers are searched.
    """

    judging: JudgePlan = field(default_factory=JudgePlan)
    baseline: str | None = None
    level: float = 0.95
    seed: int = 0
    marks: bool = False


def score(
    file: AnswerFile,
    plan: ScorePlan | None = None,
    *,
    known: Mapping[str, AnswerEvaluation] | None = None,
    load: ScorerLoader | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[Sequence[ScoredAnswer]], None] | None = None,
    executor: BlockExecutor | None = None,
) -> ScoreResult:
    """Judge the answers of a file and compute their rates.

    known: evaluations of an earlier call by ``answer_key``. load: function that loads the entailment scorer; picklable
    if there is an executor. progress: called with judged and total answers. keep: called with the scored answers of
    each batch. executor: its workers judge if a scorer is needed; None judges in this process.

    Raises AppError if there is no evidence or the baseline is not an arm. Raises WorkerError if a worker fails, and the
    errors of loading the scorer.
    """
    plan = plan or ScorePlan()
    records = file.records
    arms = tuple(dict.fromkeys(r.arm for r in records))
    if plan.baseline is not None and plan.baseline not in arms:
        raise AppError(f"there is no system {plan.baseline!r} among these answers: choose from {', '.join(arms)}")
    judge = open_answer_judge(records, on_this_machine(plan.judging), load)
    groups = group_names(records)
    samples = sample_numbers(records, groups)
    keys = [answer_key(r, judge) for r in records]
    found = {i: known[key] for i, key in enumerate(keys) if key in known} if known else {}
    failed = 0

    def scored(i: int, evaluation: AnswerEvaluation) -> ScoredAnswer:
        return ScoredAnswer(records[i], groups[i], samples[i], evaluation, support_of(evaluation), keys[i])

    elsewhere = None if executor is None else judge_in_workers(executor, records, judge, plan.judging, load)
    for batch in judge_answers(records, judge, found, progress, elsewhere):
        found |= {judged.index: judged.evaluation for judged in batch}
        failed += sum(judged.failed for judged in batch)
        if keep is not None:
            keep([scored(judged.index, judged.evaluation) for judged in _lasting(batch)])
    answers = tuple(scored(i, found[i]) for i in range(len(records)))
    notes = [*file.notes, *judge.notes, *group_notes(records, groups)]
    if plan.marks and judge.entailment is not None:
        answers, note = _with_marks(answers, judge)
        notes.extend(note)
    abstentions = count_abstentions(
        (a.record.arm, a.evaluation, _answered(a.record))
        for a in sorted(answers, key=lambda a: arms.index(a.record.arm))
    )
    notes.extend(line for counted in abstentions if (line := abstention_line(counted)))
    settings = Settings(level=plan.level, seed=plan.seed)
    table = OutcomeTable.from_records(
        OutcomeRecord(a.group, a.record.arm, a.sample, a.evaluation.outcome)
        for a in sorted(answers, key=lambda a: arms.index(a.record.arm))
    )
    pairs, unpaired = _pairs(answers, arms, plan.baseline)
    notes.extend(unpaired)
    threshold = judge.threshold
    if isinstance(judge.verifier, LabelVerifier) and not known and (unused := judge.verifier.unused):
        notes.append(f"{len(unused)} labels match none of these answers, the first at {unused[0]}.")
    return ScoreResult(
        answers,
        summarise(table, plan.baseline or arms[0], pairs, settings),
        file,
        judge.measure,
        judge.kind,
        judge.verifier.name,
        threshold,
        _detection(answers, threshold, plan.seed),
        tuple(notes),
        failed,
        abstentions,
    )


def _answered(record: AnswerRecord) -> bool | None:
    """Return whether the documents answer the question, by its mark and references; None if unknown."""
    if not record.answerable and not record.references:
        return False
    return True if record.references else None


def support_of(evaluation: AnswerEvaluation) -> float | None:
    """Return the support of an answer's worst claim (docs/architecture.md, rule 2).

    Returns 1 for an answer that declines, None for an unscored answer.
    """
    if evaluation.outcome == "abstained":
        return 1.0
    if evaluation.outcome == "unscored":
        return None
    return min((v.support for v in evaluation.verdicts if v.support is not None), default=None)


def _lasting(batch: Sequence[JudgedAnswer]) -> list[JudgedAnswer]:
    """Return the answers on which the verifier did not fail. A later call need not judge them again."""
    return [judged for judged in batch if not judged.failed]


def _pairs(
    answers: Sequence[ScoredAnswer], arms: Sequence[str], baseline: str | None
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return the compared pairs of arms, and notes on the comparisons."""
    first = baseline or (arms[0] if len(arms) > ALL_PAIRS else None)
    compared = combinations(arms, 2) if first is None else ((first, arm) for arm in arms if arm != first)
    groups = {arm: {a.group for a in answers if a.record.arm == arm} for arm in arms}
    pairs, notes = [], []
    for one, two in compared:
        if groups[one] & groups[two]:
            pairs.append((one, two))
        else:
            notes.append(f"{one} and {two} have no question in common, so no paired difference is given.")
    if first is not None and baseline is None:
        notes.append(f"{len(arms)} systems: each is compared with {first} (another baseline can be named).")
    return tuple(pairs), notes


def _detection(answers: Sequence[ScoredAnswer], threshold: float | None, seed: int) -> DetectionTable | None:
    """Return the verifier's quality on labelled answers, or None without labels.

    The measures use the threshold 0.5. Support is therefore rescaled to move the verifier's threshold to 0.5, which
    preserves its order.
    """
    judged = [
        ScoredStatement(
            _centred(a.support, threshold, a), not a.record.hallucinated, a.group, a.record.arm, a.evaluation.reason
        )
        for a in answers
        if a.record.hallucinated is not None
    ]
    return detection_table(judged, seed) if judged else None


def _centred(support: float | None, threshold: float | None, answer: ScoredAnswer) -> float | None:
    if support is None:
        return None
    if threshold is None:  # references: support is graded, the label decides
        return MIDDLE + support / 2.0 if not answer.unsupported else min(support, 1.0) * 0.49
    if support >= threshold:
        return 1.0 if threshold >= 1.0 else MIDDLE + (support - threshold) / (1.0 - threshold) / 2.0
    return MIDDLE * support / threshold


def _with_marks(answers: Sequence[ScoredAnswer], judge: AnswerJudge) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Return the answers with weak words in at most MARKED_CLAIMS claims of the worst answers, and notes."""
    if judge.entailment is None:
        return tuple(answers), []
    marked = list(answers)
    left = MARKED_CLAIMS
    for i in sorted(range(len(answers)), key=lambda i: (answers[i].support is None, answers[i].support, i)):
        claims = tuple(v.claim for v in answers[i].unsupported)
        if left <= 0:
            break
        if not claims or answers[i].evaluation.outcome != "hallucinated":
            continue
        try:
            found = judge.entailment.mark(
                judge.questions[i], claims[:left], [v.claim for v in answers[i].evaluation.verdicts]
            )
        except (*USER_ERRORS, ValueError, RuntimeError) as error:
            return tuple(marked), [f"No further words are marked in the answers: {error}."]
        left -= len(claims)
        marked[i] = replace(answers[i], weak=tuple(w for m in found for w in m.weak))
    return tuple(marked), []
