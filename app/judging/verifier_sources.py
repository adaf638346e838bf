"""Settings of the other verifiers: a table of facts, a language model, and human labels. Functions that open them."""

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
    """Settings of verifiers.

    facts: database URL with #TABLE, or file, of the table of facts. tolerance: relative tolerance of numbers. judge:
    language model, named as in --model. votes: number of its answers per claim. labels: file of human labels. split:
    whether sentences are split into simpler claims. together: whether an entailment verifier judges the claims of an
    answer together; None for the default of the caller.
    """

    facts: str | None = None
    tolerance: float = 0.0
    judge: str | None = None
    votes: int = 5
    labels: Path | None = None
    split: bool = False
    together: bool | None = None


def judges_claims_together(scorer: PairScorer, requested: bool | None) -> bool:
    """Return whether the claims of an answer are judged together, which excludes drift analysis.

    requested: the requested setting; None to do so if the scorer supports it. If it is requested for a scorer that does
    not support it, building the verifier raises an error.
    """
    return answer_tokens(scorer) > 0 if requested is None else requested


def open_fact_verifier(source: VerifierSource) -> FactVerifier:
    """Open the verifier of facts.

    Raises AppError if no table is named, DataError if it cannot be read, EvaluationError for an invalid tolerance.
    """
    from data.fact_tables import open_facts
    from evaluation.verifiers.facts import FactVerifier

    if not source.facts:
        raise AppError(
            "the verifier facts needs a table: URL#TABLE, or FILE.csv of subject,relation,value", parameter="facts"
        )
    return FactVerifier(open_facts(source.facts), source.tolerance, source.split)


def open_label_verifier(source: VerifierSource) -> LabelVerifier:
    """Open the verifier of human labels. Raises AppError if no file is named, DataError if it cannot be read."""
    from data.verdict_labels import load_verdict_labels
    from evaluation.verifiers.human_labels import LabelVerifier

    if source.labels is None:
        raise AppError("the verifier labels needs a file of question, answer and label", parameter="labels")
    return LabelVerifier(load_verdict_labels(source.labels))


def open_language_judge(
    source: VerifierSource, evidence: EvidenceSource, threshold: float, device: str, home: Path | None = None
) -> LanguageJudge:
    """Open a language-model judge, whose model stays loaded until the process ends. home: see open_generator.

    Raises AppError if no model is named or the model does not exist, and the errors of opening it.
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
    except AppError as error:  # the error names the parameter of --model
        raise AppError(str(error), parameter="judge") from error
    return LanguageJudge(generator, evidence, threshold, source.votes, source.split)
