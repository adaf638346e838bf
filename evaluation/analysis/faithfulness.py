"""Judging a run's answers by the chunks they were given: faithfulness, beside the factuality that arms are compared by.

Verdicts are stored beside the run's own under another verifier's name, a question at a time, so that a run is judged
once and an interrupted judging goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from data.questions import Question
from evaluation.analysis.retrieval_part import SampleKey
from evaluation.outcomes import Outcome, Verdict, outcome_of
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.records import SampleRecord
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import PairScorer

AT_ONCE = 16
"""Prompts judged and committed in one go: the scorer sorts their pairs by length."""


def key_of(record: SampleRecord) -> SampleKey:
    """The name of a sample within its run."""
    return record.question_id, record.arm, record.decoding, record.sample


def verifier_name(scorer: PairScorer, threshold: float, together: bool = False) -> str:
    """Of the verifier that ``judge_faithfulness`` judges with."""
    return f"faithful | {EntailmentVerifier(scorer, ContextEvidence({}), threshold, together=together).name}"


def judge_faithfulness(
    run_id: str,
    records: Sequence[SampleRecord],
    questions: Sequence[Question],
    scorer: PairScorer,
    threshold: float,
    store: ExtraVerdicts,
    progress: Callable[[int, int], None] | None = None,
    *,
    together: bool = False,
) -> None:
    """Judge every answer that was given chunks and has no such verdict yet, and store the verdicts.

    together: whether an answer's claims are read together; as in the run, since what is compared is evidence.
    progress: called with (done, all) prompts. Raises what scoring raises; what was committed stays.
    """
    name = verifier_name(scorer, threshold, together)
    known = store.load(run_id, name)
    prompts: dict[tuple[str, str], list[SampleRecord]] = {}
    for record in records:
        claimed = record.completion is not None and record.evaluation.verdicts
        if record.chunks and claimed and key_of(record) not in known:
            prompts.setdefault((record.question_id, record.arm), []).append(record)
    by_id = {q.id: q for q in questions}
    pending = list(prompts.values())
    for start in range(0, len(pending), AT_ONCE):
        batch = pending[start : start + AT_ONCE]
        contexts = {str(i): [c.text for c in samples[0].chunks] for i, samples in enumerate(batch)}
        verifier = EntailmentVerifier(scorer, ContextEvidence(contexts), threshold, together=together)
        found: list[tuple[SampleRecord, VerificationItem]] = []
        for i, samples in enumerate(batch):
            asked = by_id[samples[0].question_id]
            question = AnsweredQuestion(str(i), asked.text, answerable=asked.answerable)
            for record in samples:
                # The claims as the run's verifier read them: what is compared is evidence, not reading.
                claims = tuple(v.claim for v in record.evaluation.verdicts)
                found.append((record, VerificationItem(question, claims, _text(record))))
        verdicts = verifier.verify([item for _, item in found])
        store.save(run_id, name, [(key_of(r), v) for (r, _), v in zip(found, verdicts, strict=True)])
        if progress is not None:
            progress(min(start + AT_ONCE, len(pending)), len(pending))


def faithful_outcomes(verdicts: dict[SampleKey, tuple[Verdict, ...]]) -> dict[SampleKey, Outcome]:
    """Each sample's outcome by these verdicts."""
    return {key: outcome_of(mine, refused=False).outcome for key, mine in verdicts.items()}


def _text(record: SampleRecord) -> str:
    return record.completion.text if record.completion else ""
