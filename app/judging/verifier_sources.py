"""Evidence of verifiers other than references and entailment: a table of facts, a language model, human labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import AppError
from model.pairs.scoring import PairScorer, answer_tokens

if TYPE_CHECKING:
    from evaluation.verifiers.evidence import EvidenceSource
    from evaluation.verifiers.facts import FactVerifier
    from evaluation.verifiers.human_labels import LabelVerifier
    from evaluation.verifiers.language_judge import LanguageJudge


@dataclass(frozen=True, slots=True)
class VerifierSource:
    """Sources of a verifier.

    facts: a database URL (with #TABLE) or a file. tolerance: relative tolerance of numbers. judge: a model named like
    --model; votes: its number of answers per claim. labels: a file. split: whether sentences are split into simpler
    claims. together: whether an entailment verifier reads an answer's claims together; None: the default of the caller.
    """

    facts: str | None = None
    tolerance: float = 0.0
    judge: str | None = None
    votes: int = 5
    labels: Path | None = None
    split: bool = False
    together: bool | None = None


def reads_together(scorer: PairScorer, wanted: bool | None) -> bool:
    """Whether an answer's claims are read together, without drift analysis: if requested, or if the scorer supports it.

    Requested for a scorer that does not support it, the verifier that is built with it raises the error.
    """
    return answer_tokens(scorer) > 0 if wanted is None else wanted


def open_fact_verifier(source: VerifierSource) -> FactVerifier:
    """Raises AppError when no table is named, DataError when it cannot be read, EvaluationError for a bad tolerance."""
    from data.fact_tables import open_facts
    from evaluation.verifiers.facts import FactVerifier

    if not source.facts:
        raise AppError(
            "the verifier facts needs a table: URL#TABLE, or FILE.csv of subject,relation,value", parameter="facts"
        )
    return FactVerifier(open_facts(source.facts), source.tolerance, source.split)


def open_label_verifier(source: VerifierSource) -> LabelVerifier:
    """Raises AppError when no file is named, DataError when it cannot be read."""
    from data.verdict_labels import load_verdict_labels
    from evaluation.verifiers.human_labels import LabelVerifier

    if source.labels is None:
        raise AppError("the verifier labels needs a file of question, answer and label", parameter="labels")
    return LabelVerifier(load_verdict_labels(source.labels))


def open_language_judge(
    source: VerifierSource, evidence: EvidenceSource, threshold: float, device: str, home: Path | None = None
) -> LanguageJudge:
    """Open a language-model judge; the model stays open until the process ends. home: see open_generator.

    Raises AppError if none is named or it does not exist, and the errors of opening it and of its fingerprint.
    """
    from app.models.generators import open_generator
    from app.settings import Settings
    from evaluation.verifiers.language_judge import LanguageJudge

    if not source.judge:
        raise AppError(
            "the verifier judge needs a model: FOLDER, transformers:FOLDER or openai:URL#MODEL", parameter="judge"
        )
    settings = Settings()
    try:
        generator = open_generator(
            source.judge,
            device=device,
            api_key=settings.model_key.get_secret_value(),
            context_length=settings.model_context,
            parallel=settings.model_parallel,
            home=home,
        )
    except AppError as error:  # its words are those of --model
        raise AppError(str(error), parameter="judge") from error
    return LanguageJudge(generator, evidence, threshold, source.votes, source.split)
