"""Verify single claims against given evidence: label, support, best evidence sentence, and weak words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.errors import AppError
from app.judging.answer_judge import FAILURES_IN_A_ROW, JudgePlan, ScorerLoader
from app.judging.scorers import load_scorer
from app.judging.verifier_sources import judges_claims_together, open_fact_verifier, open_language_judge
from data.refused import Refused
from evaluation.claims.splitting import extract_by
from evaluation.contrast.contradiction import contradiction
from evaluation.contrast.statement import sentence_spans
from evaluation.outcomes import Claim, Evidence, Label, Verdict
from evaluation.verifiers.context_evidence import AnsweredQuestion
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.evidence import ClaimRequest, EvidenceText
from evaluation.verifiers.failing_words import WeakWord
from evaluation.verifiers.verifier import FAILED, VerificationItem, Verifier, failed

AT_ONCE = 256
"""Maximum number of pairs per call of the scorer."""

_MOST_CHARACTERS = 200_000
"""Maximum length of evidence that is searched for a contradiction, in characters. This takes about a second."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim with its evidence.

    question: the question that the claim answers, "" if there is none. id: ID given by the caller, "" if there is none.
    answerable: whether the documents answer the question; True if unknown.
    """

    claim: str
    evidence: tuple[EvidenceText, ...]
    question: str = ""
    id: str = ""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The verdict on a claim. A claim of several sentences gets the label and support of its worst sentence.

    support: support in [0, 1]; None if the claim is unscored. reason: explanation of the label, if there is one.
    verdicts: one verdict per sentence. weak: words whose removal would raise the support; None if they were not
    computed.
    """

    pair: ClaimPair
    label: Label
    support: float | None
    reason: str
    verdicts: tuple[Verdict, ...]
    weak: tuple[WeakWord, ...] | None = None


class ClaimChecker:
    """A checker that judges claims with one verifier, each claim against its own evidence."""

    def __init__(self, plan: JudgePlan, load: ScorerLoader | None = None) -> None:
        """Open the verifier of plan.choice: facts, a language-model judge, or entailment for all other choices.

        load: function that loads the entailment scorer. Raises ModelError if the scorer cannot be loaded,
        EvaluationError for an invalid threshold, and the errors of opening the other verifiers.
        """
        self._evidence, self._split = _GivenEvidence(), plan.source.split
        self._verifier: Verifier
        self._marking: EntailmentVerifier | None = None
        self.needs_evidence = plan.choice != "facts"
        if plan.choice == "facts":
            self._verifier = open_fact_verifier(plan.source)
        elif plan.choice == "judge":
            self._verifier = open_language_judge(plan.source, self._evidence, plan.threshold, plan.device)
        else:
            scorer = (load or load_scorer)(plan.model, plan.device)
            together = judges_claims_together(scorer, plan.source.together)
            entailment = EntailmentVerifier(
                scorer, self._evidence, plan.threshold, split=self._split, together=together
            )
            self._verifier = self._marking = entailment

    @property
    def name(self) -> str:
        """Name of the verifier."""
        return self._verifier.name

    def check(self, pairs: Sequence[ClaimPair], words: bool = False) -> tuple[CheckedClaim, ...]:
        """Judge pairs and return one result per pair, in order.

        words: whether to find weak words, which scores up to 24 more pairs per unverifiable sentence. If the verifier
        fails on the batch, the pairs are judged one by one. A pair on which it fails is unscored, with the error as
        reason. Raises AppError after FAILURES_IN_A_ROW consecutive failures.
        """
        try:
            found = self._check(pairs, words)
        except Exception:  # the failing claim is found by judging one at a time
            return tuple(self._one_by_one(pairs, words))
        in_a_row = 0
        for checked in found:
            lost = [v for v in checked.verdicts if failed(v)]
            in_a_row = in_a_row + 1 if lost else 0
            if in_a_row >= FAILURES_IN_A_ROW:
                raise AppError(f"{lost[0].reason} (stopped after {in_a_row} claims in a row)")
        return found

    def _one_by_one(self, pairs: Sequence[ClaimPair], words: bool) -> Iterator[CheckedClaim]:
        in_a_row = 0
        for pair in pairs:
            try:
                yield self._check([pair], words)[0]
                in_a_row = 0
            except Exception as error:  # this claim is unscored, with the error as its reason
                in_a_row += 1
                reason = f"{FAILED}: {type(error).__name__}: {error}"[:500]
                if in_a_row >= FAILURES_IN_A_ROW:
                    raise AppError(f"{reason} (stopped after {in_a_row} claims in a row)") from error
                yield CheckedClaim(pair, "unscored", None, reason, ())

    def _check(self, pairs: Sequence[ClaimPair], words: bool) -> tuple[CheckedClaim, ...]:
        questions = [
            AnsweredQuestion(str(i), pair.question, answerable=pair.answerable) for i, pair in enumerate(pairs)
        ]
        claims = [_sentences(pair.claim, self._split) for pair in pairs]
        has_text = [any(c.isalnum() for c in pair.claim) for pair in pairs]
        ready = [i for i, pair in enumerate(pairs) if has_text[i] and (pair.evidence or not self.needs_evidence)]
        self._evidence.texts = {str(i): pairs[i].evidence for i in ready}
        items = [VerificationItem(questions[i], claims[i], pairs[i].claim) for i in ready]
        found = dict(zip(ready, self._verifier.verify(items), strict=True))
        results = []
        for i, pair in enumerate(pairs):
            if i not in found:
                reason = "there is no evidence" if has_text[i] else "the claim has no letter and no digit"
                results.append(CheckedClaim(pair, "unscored", None, reason, ()))
                continue
            weak: tuple[WeakWord, ...] | None = None
            if words and self._marking is not None:
                failing = [v.claim for v in found[i] if v.label == "unverifiable"]
                marked = self._marking.mark(questions[i], failing, claims[i]) if failing else ()
                weak = tuple(w for m in marked for w in m.weak)
            verdicts = (
                found[i] if self._marking is None else tuple(with_contradiction(v, pair.evidence) for v in found[i])
            )
            results.append(_result(pair, verdicts, weak))
        return tuple(results)


class _GivenEvidence:
    """An EvidenceSource that returns the texts of the current pairs."""

    name = "given evidence"

    def __init__(self) -> None:
        self.texts: dict[str, tuple[EvidenceText, ...]] = {}

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """Return the evidence texts of each request."""
        return tuple(self.texts.get(r.question.id, ()) for r in requests)


def pairs_of(lines: Iterable[tuple[str, str]], needs_evidence: bool = True) -> Iterator[ClaimPair | Refused]:
    """Parse JSON lines and yield a pair, or the reason for a refusal, for each of them.

    lines: location and text of each line. Required fields: "claim" (text) and "evidence" (text or list of texts).
    Optional fields: "question", "answerable", "id". needs_evidence: whether "evidence" is required.
    """
    for where, line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Refused(where, f"not JSON: {error}")
            continue
        found = _pair(value, needs_evidence)
        yield Refused(where, found) if isinstance(found, str) else found


def checked_json(checked: CheckedClaim) -> dict[str, Any]:
    """Return a result as JSON. ``best`` is the best evidence for the worst sentence, with offsets in that evidence."""
    worst = _worst(checked.verdicts)
    return {
        **({"id": checked.pair.id} if checked.pair.id else {}),
        "claim": checked.pair.claim,
        "label": checked.label,
        "support": checked.support,
        "reason": checked.reason,
        "best": [
            {"document": e.document_id, "start": e.start, "end": e.end, "text": e.text}
            for e in (worst.evidence if worst else ())
        ],
        "sentences": [
            {"start": v.claim.start, "end": v.claim.end, "label": v.label, "support": v.support}
            for v in checked.verdicts
        ],
        "weak": None
        if checked.weak is None
        else [
            {"start": w.start, "end": w.end, "text": checked.pair.claim[w.start : w.end], "gain": w.gain}
            for w in checked.weak
        ],
    }


def _pair(value: object, needs_evidence: bool) -> ClaimPair | str:
    """Return the pair of a JSON value, or the reason why the value is invalid."""
    if not isinstance(value, dict):
        return "a line must be a JSON object"
    evidence = value.get("evidence", value.get("contexts"))
    if evidence is None and not needs_evidence:
        evidence = []
    texts = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(value.get("claim"), str):
        return '"claim" is missing or is not text'
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        return '"evidence" is missing: it must be text or a list of texts'
    question, name = value.get("question") or "", value.get("id")
    if not isinstance(question, str):
        return '"question" is not text'
    answerable = value.get("answerable", True)
    if not isinstance(answerable, bool):
        return '"answerable" must be true or false'
    passages = tuple(EvidenceText(f"evidence {n}", t, 0) for n, t in enumerate(texts, start=1) if t.strip())
    return ClaimPair(value["claim"], passages, question, "" if name is None else str(name), answerable)


def _sentences(claim: str, split: bool) -> tuple[Claim, ...]:
    """Return the sentences of a claim, or simpler claims if ``split`` is set.

    Returns the entire claim if at most one of them is found.
    """
    found = extract_by(split, claim).claims
    return found if len(found) > 1 else (Claim(claim, 0, len(claim)),)


def with_contradiction(verdict: Verdict, evidence: Sequence[EvidenceText]) -> Verdict:
    """Relabel an unverifiable verdict as "contradicted" if a rule finds that the evidence contradicts the claim.

    Adds the reason and the contradicting sentence. Other verdicts are returned unchanged. The rule is needed because
    the network scores support only and cannot distinguish a contradiction from missing evidence.
    """
    if verdict.label != "unverifiable":
        return verdict
    claim = verdict.claim.text
    reason = contradiction(claim, "\n".join(text.text for text in evidence)[:_MOST_CHARACTERS])
    if not reason:
        return verdict
    for text in evidence:
        for start, end in sentence_spans(text.text[:_MOST_CHARACTERS]):
            sentence = text.text[start:end]
            if found := contradiction(claim, sentence):
                span = Evidence(text.document_id, text.start + start, text.start + end, sentence)
                return replace(verdict, label="contradicted", reason=found, evidence=(span,))
    return replace(verdict, label="contradicted", reason=reason)


def _worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    return min(verdicts, key=lambda v: 2.0 if v.support is None else v.support, default=None)


def _result(pair: ClaimPair, verdicts: tuple[Verdict, ...], weak: tuple[WeakWord, ...] | None) -> CheckedClaim:
    """Combine the verdicts on the sentences of a claim into the verdict on its worst sentence.

    The claim is unscored if a sentence is unscored and no other sentence fails.
    """
    worst = _worst(verdicts)
    unscored = next((v for v in verdicts if v.label == "unscored"), None)
    if worst is None or (unscored is not None and worst.label not in ("contradicted", "unverifiable")):
        return CheckedClaim(
            pair, "unscored", None, unscored.reason if unscored else "the claim states nothing", verdicts
        )
    return CheckedClaim(pair, worst.label, worst.support, worst.reason, verdicts, weak)
