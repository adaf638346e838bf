"""Define the base class of verifiers that judge claims by evidence."""

from __future__ import annotations

from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.claims.splitting import extract_by


class EvidenceVerifier:
    """Base class of verifiers with a threshold of support. split: whether sentences are split into simpler claims."""

    def __init__(self, name: str, threshold: float, split: bool) -> None:
        self._name, self._threshold, self._split = name, threshold, split

    @property
    def name(self) -> str:
        """Name with version, model, threshold and evidence source. Equal names give equal verdicts."""
        return self._name

    @property
    def threshold(self) -> float:
        """Minimum support of a supported claim."""
        return self._threshold

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract one claim per sentence, or simpler ones (see ``extract_sentences``, ``extract_split_claims``)."""
        return extract_by(self._split, completion, question.text)
