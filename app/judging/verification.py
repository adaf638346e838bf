"""Single claims against evidence given with them: support, label, the best evidence sentence, the words that fail."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.errors import AppError
from app.judging.answer_judge import FAILURES_IN_A_ROW, JudgePlan, ScorerLoader, load_scorer
from app.judging.verifier_sources import open_fact_verifier, open_language_judge, reads_together
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
"""Pairs judged in one call of the scorer, which sorts them by length."""

_MOST_CHARACTERS = 200_000
"""Of evidence that is looked through for a contradiction: a second or so."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim, what may support it, and the question it answers (may be empty). id: the caller's own, "" for none.

    answerable: whether the documents answer the question, as far as anybody says.
    """

    claim: str
    evidence: tuple[EvidenceText, ...]
    question: str = ""
    id: str = ""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """What a verifier says of a claim. A claim of several sentences is as good as its worst one.

    support: None where it is unscored, and then reason says why. verdicts: one for each sentence. weak: words of the
    claim without which its evidence would support it more; None where they were not looked for.
    """

    pair: ClaimPair
    label: Label
    support: float | None
    reason: str
    verdicts: tuple[Verdict, ...]
    weak: tuple[WeakWord, ...] | None = None


class ClaimChecker:
    """Judges claims with one scorer, each against its own evidence."""

    def __init__(self, plan: JudgePlan, load: ScorerLoader | None = None) -> None:
        """Opens the verifier that plan.choice names: facts, judge, or else entailment, whose scorer is loaded.

        Raises ModelError when that cannot be loaded, EvaluationError for a bad threshold, and what opening others does.
        """
        self._evidence, self._split = _Own(), plan.source.split
        self._verifier: Verifier
        self._marking: EntailmentVerifier | None = None
        self.needs_evidence = plan.choice != "facts"
        if plan.choice == "facts":
            self._verifier = open_fact_verifier(plan.source)
        elif plan.choice == "judge":
            self._verifier = open_language_judge(plan.source, self._evidence, plan.threshold, plan.device)
        else:
            scorer = (load or load_scorer)(plan.model, plan.device)
            together = reads_together(scorer, plan.source.together)
            entailment = EntailmentVerifier(
                scorer, self._evidence, plan.threshold, split=self._split, together=together
            )
            self._verifier = self._marking = entailment

    @property
    def name(self) -> str:
        """The verifier's."""
        return self._verifier.name

    def check(self, pairs: Sequence[ClaimPair], words: bool = False) -> tuple[CheckedClaim, ...]:
        """One result a pair, in order. words: also look for weak words (up to 24 more pairs a failing sentence).

        Where the verifier fails on all of them together they are judged one by one, and what fails then is unscored
        with the reason. Raises AppError when FAILURES_IN_A_ROW fail in a row.
        """
        try:
            found = self._check(pairs, words)
        except Exception:
            return tuple(self._one_by_one(pairs, words))
        in_a_row = 0
        for checked in found:
            lost = [v for v in checked.verdicts if failed(v)]
            in_a_row = in_a_row + 1 if lost else 0
            if in_a_row >= FAILURES_IN_A_ROW:
                raise AppError(f"{lost[0].reason} ({in_a_row} claims in a row: no more are tried)")
        return found

    def _one_by_one(self, pairs: Sequence[ClaimPair], words: bool) -> Iterator[CheckedClaim]:
        in_a_row = 0
        for pair in pairs:
            try:
                yield self._check([pair], words)[0]
                in_a_row = 0
            except Exception as error:
                in_a_row += 1
                reason = f"{FAILED}: {type(error).__name__}: {error}"[:500]
                if in_a_row >= FAILURES_IN_A_ROW:
                    raise AppError(f"{reason} ({in_a_row} claims in a row: no more are tried)") from error
                yield CheckedClaim(pair, "unscored", None, reason, ())

    def _check(self, pairs: Sequence[ClaimPair], words: bool) -> tuple[CheckedClaim, ...]:
        questions = [
            AnsweredQuestion(str(i), pair.question, answerable=pair.answerable) for i, pair in enumerate(pairs)
        ]
        claims = [_sentences(pair.claim, self._split) for pair in pairs]
        said = [any(c.isalnum() for c in pair.claim) for pair in pairs]
        ready = [i for i, pair in enumerate(pairs) if said[i] and (pair.evidence or not self.needs_evidence)]
        self._evidence.texts = {str(i): pairs[i].evidence for i in ready}
        items = [VerificationItem(questions[i], claims[i], pairs[i].claim) for i in ready]
        found = dict(zip(ready, self._verifier.verify(items), strict=True))
        results = []
        for i, pair in enumerate(pairs):
            if i not in found:
                reason = "there is no evidence" if said[i] else "the claim has no letter and no digit"
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


class _Own:
    """An EvidenceSource whose texts are those of the pairs at work."""

    name = "given evidence"

    def __init__(self) -> None:
        self.texts: dict[str, tuple[EvidenceText, ...]] = {}

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        """The texts of each request's pair."""
        return tuple(self.texts.get(r.question.id, ()) for r in requests)


def pairs_of(lines: Iterable[tuple[str, str]], needs_evidence: bool = True) -> Iterator[ClaimPair | Refused]:
    """Pairs of JSON lines, each (where, text): {"claim", "evidence" (text or list)}; "question", "answerable" and "id"
    may be missing."""
    for where, line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Refused(where, f"not JSON: {error}")
            continue
        found = _pair(value, needs_evidence)
        yield Refused(where, found) if isinstance(found, str) else found


def checked_json(checked: CheckedClaim) -> dict[str, Any]:
    """One result as JSON. ``best``: of the worst sentence, the evidence that bears it best; offsets are its own."""
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
    """The pair of a JSON value, or why it is none."""
    if not isinstance(value, dict):
        return "a line must be a JSON object"
    evidence = value.get("evidence", value.get("contexts"))
    if evidence is None and not needs_evidence:
        evidence = []
    texts = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(value.get("claim"), str):
        return '"claim" is missing, or no text'
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        return '"evidence" is missing: it must be text or a list of texts'
    question, name = value.get("question") or "", value.get("id")
    if not isinstance(question, str):
        return '"question" is no text'
    answerable = value.get("answerable", True)
    if not isinstance(answerable, bool):
        return '"answerable" must be true or false'
    held = tuple(EvidenceText(f"evidence {n}", t, 0) for n, t in enumerate(texts, start=1) if t.strip())
    return ClaimPair(value["claim"], held, question, "" if name is None else str(name), answerable)


def _sentences(claim: str, split: bool) -> tuple[Claim, ...]:
    """The sentences of a claim, or simpler claims; all of it where it has one, or none that claims anything."""
    found = extract_by(split, claim).claims
    return found if len(found) > 1 else (Claim(claim, 0, len(claim)),)


def with_contradiction(verdict: Verdict, evidence: Sequence[EvidenceText]) -> Verdict:
    """An unverifiable verdict whose claim the evidence contradicts by rule becomes "contradicted", with the reason and
    the sentence; any other stays as it is. A network of support alone cannot tell a contradiction from silence."""
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
                place = Evidence(text.document_id, text.start + start, text.start + end, sentence)
                return replace(verdict, label="contradicted", reason=found, evidence=(place,))
    return replace(verdict, label="contradicted", reason=reason)


def _worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    return min(verdicts, key=lambda v: 2.0 if v.support is None else v.support, default=None)


def _result(pair: ClaimPair, verdicts: tuple[Verdict, ...], weak: tuple[WeakWord, ...] | None) -> CheckedClaim:
    """The claim is as good as its worst sentence; unscored where one is and no other fails."""
    worst = _worst(verdicts)
    unscored = next((v for v in verdicts if v.label == "unscored"), None)
    if worst is None or (unscored is not None and worst.label not in ("contradicted", "unverifiable")):
        return CheckedClaim(pair, "unscored", None, unscored.reason if unscored else "nothing is claimed", verdicts)
    return CheckedClaim(pair, worst.label, worst.support, worst.reason, verdicts, weak)
