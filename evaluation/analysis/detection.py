"""Evaluation of a run's reference-free signals as detectors of hallucinated answers.

The detected verdict is that on a separate answer at low temperature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.claims.sentences import plain_claim_text
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import Decoding, RunConfig
from evaluation.signals.consistency import self_consistency
from evaluation.signals.detectors import DetectorScores, SignalRow, detector_scores
from evaluation.signals.probabilities import largest_negative_logprob, mean_negative_logprob, predictive_entropy
from evaluation.signals.samples import QuestionSamples, SampledAnswer, SignalValue
from evaluation.signals.semantic_entropy import semantic_entropy

Signal = Callable[[QuestionSamples], SignalValue]
NO_ENTAILMENT_MODEL = "no entailment model other than the verifier was used (signals)"


@dataclass(frozen=True, slots=True)
class ArmSignals:
    """Detectors of one arm.

    answered_at: label of the decoding of the judged answer. sampled_at: label of the decoding of the samples. samples:
    number of samples per question. entailment: name of the model that compared meanings, "" if none was used. bias:
    first-order bias of discrete semantic entropy, averaged over questions; None without it.
    """

    arm: str
    answered_at: str
    sampled_at: str
    samples: int
    detectors: tuple[DetectorScores, ...]
    entailment: str
    bias: float | None


def run_signals(
    config: RunConfig, records: Sequence[SampleRecord], questions: dict[str, str], entailing: CachedEntailment | None
) -> tuple[ArmSignals, ...]:
    """Evaluate the detectors of each arm; empty if the run has no greedy answer with at least two samples.

    The samples are those at temperature 1 without truncation if the run has them, because probabilities under the
    sampling distribution are known only for these. Otherwise they are those of the headline decoding. questions: text
    by ID.
    """
    greedy = next((d for d in config.grid if d.greedy), None)
    sampled = sampling_cell(config)
    if greedy is None or sampled is None:
        return ()
    found = []
    for spec in config.arms:
        rows = _rows(spec.name, records, greedy, sampled, questions)
        if rows:
            found.append(_arm(spec.name, rows, greedy, sampled, config, entailing))
    return tuple(found)


def sampling_cell(config: RunConfig) -> Decoding | None:
    """Return the decoding whose samples the signals use; None if no decoding has two samples."""
    usable = [d for d in config.decodings if not d.greedy and config.samples_of(d) > 1]
    return next((d for d in usable if _untruncated(d)), usable[0] if usable else None)


def _untruncated(decoding: Decoding) -> bool:
    plain = decoding.top_k is None and decoding.top_p == 1.0 and decoding.min_p == 0.0
    return decoding.temperature == 1.0 and plain and decoding.repetition_penalty == 1.0


@dataclass(frozen=True, slots=True)
class _Row:
    """Samples of a question with the claims of its judged answer.

    hallucinated: whether the judged answer is hallucinated; None if it was not judged.
    """

    samples: QuestionSamples
    statements: tuple[str, ...]
    hallucinated: bool | None


def _rows(
    arm: str, records: Sequence[SampleRecord], greedy: Decoding, sampled: Decoding, questions: dict[str, str]
) -> list[_Row]:
    mine: dict[str, dict[str, list[SampleRecord]]] = {}
    for record in records:
        if record.arm == arm and record.completion is not None:
            mine.setdefault(record.question_id, {}).setdefault(record.decoding, []).append(record)
    rows = []
    for question, cells in mine.items():
        main, drawn = cells.get(greedy.label, []), cells.get(sampled.label, [])
        if not main or not drawn:
            continue
        answers = tuple(a for r in drawn if (a := _answer(r, sampled)) is not None)
        answer = _answer(main[0], greedy)
        if answer is None:
            continue
        outcome = main[0].evaluation.outcome
        rows.append(
            _Row(
                QuestionSamples(question, questions.get(question, ""), answer, answers),
                tuple(plain_claim_text(v.claim.text) for v in main[0].evaluation.verdicts),
                None if outcome not in ("hallucinated", "supported") else outcome == "hallucinated",
            )
        )
    return rows


def _answer(record: SampleRecord, decoding: Decoding) -> SampledAnswer | None:
    completion = record.completion
    if completion is None:
        return None
    # Rounding may give a probability slightly above 1.
    logprobs = tuple(min(p, 0.0) for p in completion.token_logprobs)
    known = logprobs if logprobs or not completion.usage.completion_tokens else None
    return SampledAnswer(completion.text, known, known if _untruncated(decoding) else None)


def _arm(
    arm: str,
    rows: Sequence[_Row],
    greedy: Decoding,
    sampled: Decoding,
    config: RunConfig,
    entailing: CachedEntailment | None,
) -> ArmSignals:
    found: dict[str, list[SignalRow]] = {}
    biases: list[float] = []
    for row in rows:
        values = _of_probabilities(row.samples) | _of_meanings(row, entailing, biases)
        for name, value in values.items():
            found.setdefault(name, []).append(SignalRow(row.samples.question_id, value, row.hallucinated))
    detectors = tuple(detector_scores(name, signal) for name, signal in found.items())
    return ArmSignals(
        arm,
        greedy.label,
        sampled.label,
        config.samples_of(sampled),
        detectors,
        entailing.name if entailing else "",
        sum(biases) / len(biases) if biases else None,
    )


def _of_probabilities(samples: QuestionSamples) -> dict[str, SignalValue]:
    return {
        "mean token surprise": mean_negative_logprob(samples.answer),
        "largest token surprise": largest_negative_logprob(samples.answer),
        "predictive entropy": predictive_entropy(samples.samples),
        "predictive entropy a token": predictive_entropy(samples.samples, normalised=True),
    }


def _of_meanings(row: _Row, entailing: CachedEntailment | None, biases: list[float]) -> dict[str, SignalValue]:
    names = ("self-inconsistency", "semantic entropy, discrete", "semantic entropy, by likelihood")
    samples = row.samples
    if entailing is None:
        return {name: SignalValue(None, NO_ENTAILMENT_MODEL) for name in names}
    prefix = f"{samples.question} "
    statements = [prefix + s for s in row.statements]
    consistency = self_consistency(statements, [prefix + s.text for s in samples.samples], entailing.supports)
    entropy = semantic_entropy(samples.question, samples.samples, entailing.entails)
    biases.append(entropy.bias)
    return dict(zip(names, (consistency.inconsistency, entropy.discrete, entropy.likelihood), strict=True))
