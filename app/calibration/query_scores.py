"""Score answers to questions that are marked as unanswerable in the same way as answers to queries.

The verifier of a run uses the mark: it does not use the reader of short answers, so the scores are lower. Queries have
no such mark. A threshold on the run's scores would therefore let more hallucinated answers pass in service than in
calibration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.errors import AppError
from app.judging.run_judge import VerifierPlan, load_scorer, open_judge
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.analysis.faithfulness import FAITHFUL, verifier_name
from evaluation.correction.labelled_run import ResponseKey
from evaluation.guarantee.answers import answer_score
from evaluation.outcomes import outcome_of
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import THRESHOLD, EntailmentVerifier
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier
from evaluation.verifiers.verifier import VerificationItem


def scores_at_query(
    pipeline: Pipeline,
    info: RunInfo,
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
    verifier: str,
    scores: Mapping[ResponseKey, float | None],
) -> dict[ResponseKey, float | None]:
    """Return the scores, with new scores for answers to questions that are marked as unanswerable.

    The new scores are computed without the mark. The verifier is loaded only if such an answer has a score. Raises
    AppError if queries use another verifier than the run, and the errors of loading, searching and scoring.
    """
    marked = {q.id: q.text for q in questions if not q.answerable}
    again: list[tuple[ResponseKey, AnsweredQuestion, SampleRecord]] = []
    for sample in samples:
        key = (sample.question_id, sample.arm, sample.sample)
        if sample.question_id in marked and sample.completion is not None and scores[key] is not None:
            question = AnsweredQuestion(str(len(again)), marked[sample.question_id])
            again.append((key, question, sample))
    if not again:
        return dict(scores)
    judge = _judge(pipeline, info, verifier, {q.id: [c.text for c in sample.chunks] for _, q, sample in again})
    if judge is None:
        raise AppError(
            f"run {info.id} has {len(marked)} questions marked as unanswerable. Its verifier ({verifier[:60]}) "
            "used that mark, which a query does not have, and is not the verifier that queries use now. Evaluate again "
            "with --faithfulness, which judges answers by the passages in their prompts, then calibrate"
        )
    items: list[VerificationItem] = []
    refused: list[tuple[bool, str]] = []
    for _, question, sample in again:
        text = sample.completion.text if sample.completion else ""
        extracted = judge.extract(question, text)
        items.append(VerificationItem(question, extracted.claims, text))
        refused.append((extracted.refused, extracted.reason))
    found = [outcome_of(mine, *no) for mine, no in zip(judge.verify(items), refused, strict=True)]
    return {**scores, **{key: answer_score(one) for (key, *_), one in zip(again, found, strict=True)}}


def _judge(
    pipeline: Pipeline, info: RunInfo, verifier: str, shown: Mapping[str, Sequence[str]]
) -> EntailmentVerifier | None:
    """Return the verifier of this name as queries use it, or None if queries use another one.

    shown: texts of the passages in the prompt, by question ID.
    """
    scorer = load_scorer(None, pipeline.device)
    if verifier == verifier_name(scorer, THRESHOLD):
        return EntailmentVerifier(scorer, ContextEvidence(shown), THRESHOLD)
    labels = dict(info.labels)
    collection = labels.get("trusted") or labels.get("collection")
    if verifier.startswith(FAITHFUL) or not collection:
        return None
    judge = open_judge(pipeline, VerifierPlan("entailment"), (), collection, lambda _name, _device: scorer).entailment
    if judge is None or verifier not in (judge.name, RoutedVerifier(ReferenceVerifier(), judge).name):
        return None
    return judge
