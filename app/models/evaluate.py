"""Load a reader or verifier by name and evaluate it on a file. Implements ``plumbline model eval``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from app.errors import UsageError
from app.models.evaluation_data import DataRequest, EvaluationData, file_format, load_evaluation
from app.models.known_tokenizers import check_tokenizer
from app.models.roles import Role, model_role
from app.models.shipped_decoder import decoder_folder
from app.settings import Settings
from evaluation.detection.scores import DetectionScores
from evaluation.detection.spans import SpanScores
from evaluation.detection.support import SupportProgress
from evaluation.detection.verifier_scores import VerifierReport, score_pairs, score_responses
from evaluation.reading.reader_scores import ReaderReport, ReaderScores, score_reader_answers
from generation.generator import Generator
from model.pairs.presets import read_preset
from model.pairs.scoring import PairScorer, answer_tokens


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The model to load.

    name: see app.models.roles. claim_first: whether the claim is the first text of a pair, supported_label: name of the
    label "supported"; both for external sequence classifiers only.
    """

    name: str
    device: str = "cpu"
    claim_first: bool = False
    supported_label: str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """Settings of an evaluation.

    words: whether to find weak words (RAGTruth only). alone: whether to judge each claim separately, even if the
    verifier can judge several together. max_tokens: maximum length of a reader's answer, in tokens. seed: seed of
    generation and resampling.
    """

    model: ModelRequest
    data: DataRequest
    words: bool = False
    alone: bool = False
    max_tokens: int = 32
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ModelEvaluation:
    """The result of an evaluation. Either ``verifier`` or ``reader`` is set.

    model, fingerprint: name and fingerprint that the model reports. data: the examples. unscored: reasons for unscored
    examples, with counts. together: whether a verifier judged the claims of one text together.
    """

    model: str
    fingerprint: str
    data: EvaluationData
    unscored: tuple[tuple[str, int], ...]
    verifier: VerifierReport | None = None
    reader: ReaderReport | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class ProgressCallbacks:
    """Progress callbacks: for a verifier's scores, for its weak words, and for a reader's answers."""

    supports: Callable[[SupportProgress], None]
    marking: Callable[[int, int], None]
    answers: Callable[[int, int], None]


def evaluate_model(request: EvaluationRequest, watch: ProgressCallbacks | None = None) -> ModelEvaluation:
    """Evaluate a model on a file. The kinds of both are detected from their content.

    The file is read before the weights, so that its errors are found at once. Raises UsageError if the model does not
    fit the file, AppError for an unknown model, and the errors of the loaders.
    """
    role = model_role(request.model.name)
    layout = request.data.format or file_format(request.data.path)
    needs: Role = "reader" if layout in ("reading", "squad") else "verifier"
    if role != needs:
        raise UsageError(
            f"{request.model.name} is a {role}, but {request.data.path} ({layout}) is for a {needs}: "
            + ("give it pairs or responses" if role == "verifier" else "give it questions with passages")
        )
    data = load_evaluation(request.data, layout)
    if role == "reader":
        return _evaluate_reader(request, data, watch)
    return _evaluate_verifier(request, data, watch)


def load_verifier(request: ModelRequest) -> PairScorer:
    """Load a verifier and return its scorer. Raises ModelError, RetrievalError or AppError if this is impossible."""
    name, device = request.name, request.device
    if name == "token-overlap":
        from evaluation.detection.baselines import TokenOverlapScorer

        return TokenOverlapScorer()
    if name == "minilm-cosine":
        from evaluation.detection.baselines import CosineScorer
        from retrieval.encoding.sentence_transformer import load_default_encoder

        return CosineScorer(load_default_encoder(device=device))
    if name == "verifier":
        from app.models.shipped_verifier import load_shipped_verifier

        return load_shipped_verifier(device)
    folder = Path(name).expanduser()
    if name == "verifier-network" or (folder / "verifier.json").is_file():
        return _support_scorer(None if name == "verifier-network" else folder, device)
    from model.pairs.foreign_scorer import ForeignPairScorer

    check_tokenizer(Path(read_preset(name).checkpoint), Settings().home_folder)
    return ForeignPairScorer(name, device=device, claim_first=request.claim_first, label=request.supported_label)


def load_reader(request: ModelRequest) -> Generator:
    """Load a reader and return its generator. Raises ModelError or GenerationError if this is impossible."""
    from generation.causal.generator import CausalGenerator
    from generation.reader.reader import EmbeddedReader

    folder = decoder_folder(request.name)
    if request.name == "reader":
        return EmbeddedReader(device=request.device)
    if (folder / "reader.json").is_file():
        return EmbeddedReader(folder, device=request.device)
    check_tokenizer(folder, Settings().home_folder)
    return CausalGenerator(folder, device=request.device)


def _support_scorer(folder: Path | None, device: str) -> PairScorer:
    from app.models.support_scorers import open_support_scorer

    return open_support_scorer(folder, device)


def _evaluate_verifier(
    request: EvaluationRequest, data: EvaluationData, watch: ProgressCallbacks | None
) -> ModelEvaluation:
    scorer = load_verifier(request.model)
    supports, together = watch.supports if watch else None, not request.alone
    if data.format == "pairs":
        report = score_pairs(scorer, data.pairs, together=together, seed=request.seed, progress=supports)
    else:
        report = score_responses(
            scorer,
            data.responses,
            together=together,
            seed=request.seed,
            words=request.words,
            progress=supports,
            marking=watch.marking if watch else None,
        )
    unscored = Counter(dict(report.table.unscored))
    unscored.update(where.split(": ", 1)[1] for where in data.blank)
    return ModelEvaluation(
        scorer.name,
        str(getattr(scorer, "fingerprint", scorer.name.rpartition("/")[2])),
        data,
        tuple(unscored.most_common()),
        verifier=report,
        together=together and answer_tokens(scorer) > 0,
    )


def _evaluate_reader(
    request: EvaluationRequest, data: EvaluationData, watch: ProgressCallbacks | None
) -> ModelEvaluation:
    from generation.reader.rows import chunk_contexts
    from generation.reader.vocabulary import reader_vocabulary
    from retrieval.chunking.chunker import ChunkingParams

    generator = load_reader(request.model)
    # Passages are chunked as in indexing, because readers get such chunks in practice.
    pool = chunk_contexts(data.reading, reader_vocabulary().tokenizer, ChunkingParams())
    report = score_reader_answers(
        generator,
        data.reading,
        [[pool.chunks[index] for index in own] for own in pool.of_example],
        max_tokens=request.max_tokens,
        seed=request.seed,
        progress=watch.answers if watch else None,
    )
    return ModelEvaluation(generator.name, generator.fingerprint, data, (), reader=report)


def to_json(result: ModelEvaluation, request: EvaluationRequest) -> dict[str, Any]:
    """Return the result as JSON values. Figures are shares in [0, 1] with estimate, lower and upper limit."""
    head = {
        "name": request.model.name,
        "model": result.model,
        "fingerprint": result.fingerprint,
        "data": str(request.data.path),
        "format": result.data.format,
        "split": result.data.split,
        "limit": request.data.limit,
        "skipped": len(result.data.skipped),
        "unscored": sum(count for _, count in result.unscored),
        "unscored_reasons": dict(result.unscored),
        "level": 0.95,
        "seed": request.seed,
    }
    if result.reader is not None:
        return head | _reader_json(result.reader)
    head["claims"] = "together" if result.together else "alone"
    if result.verifier is None:
        raise ValueError("an evaluation without a report")
    return head | _verifier_json(result.verifier)


def _reader_json(report: ReaderReport) -> dict[str, Any]:
    def figures(scores: ReaderScores) -> dict[str, Any]:
        plain = asdict(replace(scores))
        plain.pop("source")
        return {"n": scores.answerable + scores.unanswerable, **plain}

    return {
        "kind": "reader",
        **figures(report.overall),
        "answers_per_second": asdict(report.answers_per_second),
        "misfits": report.misfits,
        "confidence_error": report.confidence_error,
        "risk_coverage": asdict(report.risk) if report.risk else None,
        "sources": [{"source": scores.source, **figures(scores)} for scores in report.sources],
    }


def _verifier_json(report: VerifierReport) -> dict[str, Any]:
    def figures(scores: DetectionScores) -> dict[str, Any]:
        return asdict(scores)

    def spans(scores: SpanScores | None) -> dict[str, Any] | None:
        return None if scores is None else asdict(scores)

    table = report.table
    best = table.best_threshold
    return {
        "kind": "verifier",
        **figures(table.overall),
        "pairs_per_second": asdict(report.pairs_per_second),
        "pairs": report.pairs,
        "abstained": report.abstained,
        "macro_auroc": asdict(table.macro_auroc),
        "best_threshold": None if best is None else {**asdict(best), "chosen_on_this_data": True},
        "spans": spans(report.spans),
        "word_spans": spans(report.word_spans),
        "sources": [{"source": row.source, **figures(row.scores)} for row in table.sources],
    }
