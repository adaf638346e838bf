"""Citation precision and recall of a stored run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.citations.attribution import cited_sentences
from evaluation.citations.figures import ArmCitations, arm_citations
from evaluation.citations.judging import AnswerToJudge, judge_citations
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.entailment import THRESHOLD
from evaluation.verifiers.faithful import FaithfulVerifier


def run_citations(
    pipeline: Pipeline,
    info: RunInfo,
    samples: Sequence[SampleRecord],
    questions: Sequence[Question],
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[ArmCitations, ...]:
    """Return the citation figures of every arm that shows passages, judged by the network of the run's verifier.

    samples: samples of the headline decoding. Raises the errors of loading and scoring.
    """
    labels = dict(info.labels)
    scorer = load_scorer(labels.get("verifier model") or None, pipeline.device)
    verifier = FaithfulVerifier(scorer, float(labels.get("threshold", THRESHOLD)))
    by_id = {question.id: question for question in questions}
    answers: list[AnswerToJudge] = []
    for key, record in enumerate(samples):
        if record.completion is None or not record.chunks or record.evaluation.outcome == "abstained":
            continue
        question = by_id[record.question_id]
        claims = verifier.extract(question, record.completion.text).claims
        if claims:
            sentences = cited_sentences(claims, record.completion.citations)
            answers.append(AnswerToJudge(key, question, record.completion.text, sentences, record.chunks))
    judged = judge_citations(answers, verifier.verify, progress)
    resampler = Resampler(settings)
    arms = [arm.name for arm in info.config.arms if any(s.chunks for s in samples if s.arm == arm.name)]
    return tuple(
        arm_citations(
            arm,
            [(samples[k].question_id, samples[k].sample, mine) for k, mine in judged.items() if samples[k].arm == arm],
            resampler,
        )
        for arm in arms
    )
