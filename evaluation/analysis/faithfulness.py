"""Faithfulness: verdicts on a run's answers by the chunks that the answers were given.

Arms are compared by factuality; faithfulness is reported in addition. The verdicts are stored under a verifier name
other than the run's own, in batches. A run is therefore judged once, and an interrupted analysis resumes.
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

FAITHFUL = "faithful | "
"""Prefix of the names of verifiers that judge by the chunks that the answers were given."""
BATCH_SIZE = 16
"""Number of prompts that are judged and committed together. The scorer sorts their pairs by length."""


def key_of(record: SampleRecord) -> SampleKey:
    """Return the key of a sample within its run."""
    return record.question_id, record.arm, record.decoding, record.sample


def verifier_name(scorer: PairScorer, threshold: float, together: bool = False) -> str:
    """Return the name of the verifier that ``judge_faithfulness`` uses."""
    return f"{FAITHFUL}{EntailmentVerifier(scorer, ContextEvidence({}), threshold, together=together).name}"


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
    """Judge each answer that was given chunks and has no faithfulness verdict yet, and store the verdicts.

    together: whether the claims of an answer are read together, as in the run, so that only the evidence differs from
    the run's verdicts. progress: called with (done, total) numbers of prompts. Raises the errors of the scorer;
    verdicts that were committed remain.
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
    for start in range(0, len(pending), BATCH_SIZE):
        batch = pending[start : start + BATCH_SIZE]
        contexts = {str(i): [c.text for c in samples[0].chunks] for i, samples in enumerate(batch)}
        verifier = EntailmentVerifier(scorer, ContextEvidence(contexts), threshold, together=together)
        found: list[tuple[SampleRecord, VerificationItem]] = []
        for i, samples in enumerate(batch):
            own_question = by_id[samples[0].question_id]
            question = AnsweredQuestion(str(i), own_question.text, answerable=own_question.answerable)
            for record in samples:
                # The claims are those that the run's verifier read, so that only the evidence differs.
                claims = tuple(v.claim for v in record.evaluation.verdicts)
                found.append((record, VerificationItem(question, claims, _text(record))))
        verdicts = verifier.verify([item for _, item in found])
        store.save(run_id, name, [(key_of(r), v) for (r, _), v in zip(found, verdicts, strict=True)])
        if progress is not None:
            progress(min(start + BATCH_SIZE, len(pending)), len(pending))


def faithful_outcomes(verdicts: dict[SampleKey, tuple[Verdict, ...]]) -> dict[SampleKey, Outcome]:
    """Return the outcome of each sample by these verdicts."""
    return {key: outcome_of(mine, refused=False).outcome for key, mine in verdicts.items()}


def _text(record: SampleRecord) -> str:
    return record.completion.text if record.completion else ""
