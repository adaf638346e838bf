"""Judge answers by human labels of answers or claims, read from a file. Answers without a label are unscored."""

from __future__ import annotations

from collections.abc import Sequence

from data.questions import Question
from data.verdict_labels import LabelFile, VerdictLabel, normalise_spaces
from evaluation.claims.extraction import Extraction, extract_claims
from evaluation.claims.sentences import extract_sentences
from evaluation.outcomes import Claim, Verdict
from evaluation.verifiers.verifier import VerificationItem

VERSION = 1


class LabelVerifier:
    """A verifier that judges by labels. A labelled answer is one claim; otherwise the sentences are claims."""

    def __init__(self, file: LabelFile) -> None:
        self._name = f"labels/{VERSION} {file.fingerprint[:12]}"
        self._labels: dict[tuple[str, str, str, bool], VerdictLabel] = {}
        for label in file.labels:
            self._labels[label.question_id, label.question.casefold(), label.text, label.claim] = label
        self._claims = any(label.claim for label in file.labels)
        self._used: set[str] = set()

    @property
    def name(self) -> str:
        """``labels/VERSION FINGERPRINT``."""
        return self._name

    @property
    def unused(self) -> tuple[str, ...]:
        """Locations in the file of labels that match no answer, because of unknown questions or changed answers."""
        return tuple(label.where for label in self._labels.values() if label.where not in self._used)

    def extract(self, question: Question, completion: str) -> Extraction:
        """Extract the claims as labelled. An answer labelled as abstained makes no claim, whatever its text."""
        label = self._find(question, completion, claim=False)
        if label is None:
            return (extract_sentences if self._claims else extract_claims)(completion, question.text)
        if label.label == "abstained":
            return Extraction((), True)
        return Extraction((Claim(completion, 0, len(completion)),), False)

    def verify(self, items: Sequence[VerificationItem]) -> tuple[tuple[Verdict, ...], ...]:
        """Return one verdict per claim of every item (see ``Verifier.verify``)."""
        return tuple(tuple(self._judge(item, claim) for claim in item.claims) for item in items)

    def _judge(self, item: VerificationItem, claim: Claim) -> Verdict:
        label = self._find(item.question, claim.text, claim=True) or self._find(
            item.question, item.completion, claim=False
        )
        if label is None:
            return Verdict(claim, "unscored", None, "this answer has no label", (), self._name)
        if label.label == "abstained":
            return Verdict(claim, "unscored", None, "it is labelled as making no claim", (), self._name)
        support = 1.0 if label.label == "supported" else 0.0
        reason = f"labelled by a person ({label.where})" + (f": {label.note}" if label.note else "")
        return Verdict(claim, label.label, support, reason, (), self._name)

    def _find(self, question: Question, text: str, *, claim: bool) -> VerdictLabel | None:
        """Return the label for this question's ID, else for its text, else for any question."""
        answer, question_text = normalise_spaces(text), normalise_spaces(question.text).casefold()
        for key in ((question.id, question_text), (question.id, ""), ("", question_text), ("", "")):
            label = self._labels.get((*key, answer, claim))
            if label is not None:
                self._used.add(label.where)
                return label
        return None
