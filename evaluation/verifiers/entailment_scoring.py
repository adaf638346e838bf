"""Compute the support of claims by evidence: score windows, join the best two, and find the best sentence.

Support is the maximum over windows (one supporting passage is enough) and over the two best windows read together (some
claims need both). A claim too long for the scorer is read in parts and has the support of its worst part. If a case has
the other claims of its answer, they are read together by a scorer that can do this. The best sentence is found for the
claim alone. Each step is one call of the scorer for all claims.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.claims.answer_parts import answer_parts
from evaluation.errors import EvaluationError
from evaluation.evidence.rendering import EvidenceReading, read_evidence
from evaluation.evidence.windows import Window, evidence_windows
from evaluation.outcomes import Evidence
from evaluation.verifiers.evidence import EvidenceText
from model.pairs.scoring import Pair, PairScorer, answer_tokens
from retrieval.chunking.sentences import Span, sentence_spans

CLAIM_TOKENS = 160
"""Maximum length of a part of a claim in tokens. Sentences written by people are shorter."""
_QUESTION_LEAVES = 64
"""Minimum number of tokens for evidence. A question that leaves less, and less than half of the tokens, is omitted."""
_ROOM_STEP = 16
"""Step in tokens to which window lengths are rounded down, so that claims of similar length share windows."""
_TITLE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class ClaimCase:
    """A claim to score.

    claim: text of the claim as the scorer reads it, not empty.
    question: text of its question.
    evidence: evidence for the claim, best first.
    answer: claims of its answer that may be read with it, in order, including it; empty to read it alone.
    """

    claim: str
    question: str
    evidence: tuple[EvidenceText, ...]
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Support:
    """Support of a claim and its basis.

    support: number in [0, 1]; 0 without evidence; NaN if the scorer returned no number in [0, 1] for a window.
    evidence: the best sentence of the best window, or of each of two joined windows.
    windows: number of scored windows.
    joined: whether two windows were read together.
    premise, part, question: evidence, claim (or a part of a long one) and question as the scorer read them for this
        support.
    full_evidence: the complete evidence; "" if the premise is all of it.
    answer: claims that were read together with this one, including it; empty if it was read alone.
    """

    support: float
    evidence: tuple[Evidence, ...] = ()
    windows: int = 0
    joined: bool = False
    premise: str = ""
    part: str = ""
    question: str = ""
    full_evidence: str = ""
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _EvidenceWindow:
    """A window of an evidence text. title: title to put before it; "" without a title or without space for it."""

    source: EvidenceText
    reading: EvidenceReading
    span: Window
    title: str

    def titled(self, text: str) -> str:
        """Return a part of the window with its title, as the scorer reads it."""
        return f"{self.title}. {text}" if self.title else text

    def evidence(self, sentence: Span) -> Evidence:
        """Return a sentence of the window with its offsets in the document."""
        span = self.reading.source_span(self.span.start + sentence.start, self.span.start + sentence.end)
        text = self.source.text[span.start : span.end]
        return Evidence(self.source.document_id, self.source.start + span.start, self.source.start + span.end, text)


@dataclass(frozen=True, slots=True)
class _PreparedCase:
    """A prepared case.

    parts: parts of the claim. question: text of the question; "" if it does not fit.
    room: number of tokens for evidence. full_evidence: all evidence with titles; "" if that is one window.
    answer: claims that are read together with this one, including it; empty to read it alone.
    """

    parts: tuple[str, ...]
    question: str
    room: int
    windows: tuple[_EvidenceWindow, ...]
    full_evidence: str
    answer: tuple[str, ...]

    def pair(self, windows: Sequence[_EvidenceWindow], part: str) -> Pair:
        """Return the pair of one or two windows with a part of the claim."""
        return Pair(_premise(windows), part, self.question, self.full_evidence, self.answer)


@dataclass(frozen=True, slots=True)
class _Best:
    """Basis of a case's support.

    part: the claim's least supported part. windows: the best window for it, or two joined ones.
    second: the second best window; None if there is only one.
    """

    support: float
    part: str
    windows: tuple[_EvidenceWindow, ...]
    second: _EvidenceWindow | None = None


class SupportScoring:
    """Scoring of cases with one scorer. It keeps no state between calls."""

    def __init__(self, scorer: PairScorer, join: bool = True) -> None:
        """Create the scoring. join: whether the two best windows are also read together."""
        self._scorer, self._join = scorer, join

    def score(self, cases: Sequence[ClaimCase]) -> tuple[Support, ...]:
        """Return one Support per case, in order. Raises the errors of the scorer."""
        windows_by_source: dict[tuple[EvidenceText, int], tuple[_EvidenceWindow, ...]] = {}
        answers = {answer: self._parts(answer) for answer in dict.fromkeys(case.answer for case in cases)}
        full_texts: dict[tuple[EvidenceText, ...], str] = {}
        prepared = [self._read(case, windows_by_source, full_texts, answers[case.answer]) for case in cases]
        best = self._best(prepared)
        if self._join:
            best = self._joined(prepared, best)
        evidence = self._sentences(prepared, best)
        return tuple(
            Support(
                b.support,
                e,
                len(r.windows),
                len(b.windows) > 1,
                _premise(b.windows),
                b.part,
                r.question,
                r.full_evidence,
                r.answer,
            )
            for r, b, e in zip(prepared, best, evidence, strict=True)
        )

    def _read(
        self,
        case: ClaimCase,
        windows_by_source: dict[tuple[EvidenceText, int], tuple[_EvidenceWindow, ...]],
        full_texts: dict[tuple[EvidenceText, ...], str],
        together: Sequence[tuple[str, ...]],
    ) -> _PreparedCase:
        count = self._scorer.count
        parts = tuple(w.text for w in evidence_windows(case.claim, CLAIM_TOKENS, count, overlap_sentences=0))
        # A claim that occurs twice is read in the group of its first occurrence.
        answer = next((some for some in together if case.claim in some), ()) if len(parts) == 1 else ()
        full_answer = (" ".join(answer),) if answer else parts
        room_without_question = min(self._scorer.room(part) for part in full_answer)
        question = case.question
        room = min(self._scorer.room(part, question) for part in full_answer)
        if room < min(_QUESTION_LEAVES, room_without_question // 2):
            question, room = "", room_without_question
        if room > _ROOM_STEP:
            room -= room % _ROOM_STEP
        windows: list[_EvidenceWindow] = []
        for source in case.evidence:
            if (source, room) not in windows_by_source:
                windows_by_source[source, room] = self._windows(source, room)
            windows.extend(windows_by_source[source, room])
        if case.evidence not in full_texts:  # claims with the same evidence share one text
            full_texts[case.evidence] = "\n".join(f"{s.title}\n{read_evidence(s.text).text}" for s in case.evidence)
        full_text = full_texts[case.evidence] if len(windows) > 1 else ""
        return _PreparedCase(parts, question, room, tuple(windows), full_text, answer)

    def _parts(self, answer: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the groups of an answer's claims that are read together. The other claims are read alone."""
        most = answer_tokens(self._scorer)
        if not most or len(answer) < 2:
            return ()
        parts = answer_parts(self._scorer.count(answer), most)
        return tuple(tuple(answer[i] for i in part) for part in parts if len(part) > 1)

    def _windows(self, source: EvidenceText, room: int) -> tuple[_EvidenceWindow, ...]:
        title = " ".join(source.title.split())[:_TITLE_CHARACTERS].rstrip(" .?!")
        title_tokens = self._scorer.count([f"{title}."])[0] if title else 0
        if title_tokens * 4 > room:  # the title would leave less than three quarters of the tokens for evidence
            title, title_tokens = "", 0
        reading = read_evidence(source.text)
        windows = evidence_windows(reading.text, room - title_tokens, self._scorer.count)
        return tuple(_EvidenceWindow(source, reading, w, title) for w in windows)

    def _best(self, prepared: Sequence[_PreparedCase]) -> list[_Best]:
        scores = iter(self._scores([r.pair((p,), part) for r in prepared for part in r.parts for p in r.windows]))
        best = []
        for r in prepared:
            found = []
            for part in r.parts:
                scored = [(next(scores), p) for p in r.windows]
                if any(math.isnan(score) for score, _ in scored):  # the maximum is unknown
                    found.append(_Best(math.nan, part, ()))
                    continue
                ranked = sorted(scored, key=lambda s: -s[0])  # the sort is stable: among ties the first window wins
                if ranked:
                    second = ranked[1][1] if len(ranked) > 1 else None
                    found.append(_Best(ranked[0][0], part, (ranked[0][1],), second))
            undefined = [b for b in found if math.isnan(b.support)]
            best.append(
                undefined[0] if undefined else min(found, key=lambda b: b.support, default=_Best(0.0, r.parts[0], ()))
            )
        return best

    def _joined(self, prepared: Sequence[_PreparedCase], best: Sequence[_Best]) -> list[_Best]:
        """Return the two best windows if they fit together and give more support than the best one; else the best."""
        both = [
            (*b.windows, b.second) if b.second and len(r.parts) == 1 else ()
            for r, b in zip(prepared, best, strict=True)
        ]
        sizes = self._scorer.count([_premise(windows) for windows in both])
        ready = [bool(p) and size <= r.room for p, size, r in zip(both, sizes, prepared, strict=True)]
        pairs = [
            r.pair(windows, b.part) for windows, b, r, fits in zip(both, best, prepared, ready, strict=True) if fits
        ]
        scores = iter(self._scores(pairs))
        results = []
        for windows, b, fits in zip(both, best, ready, strict=True):
            joint = next(scores) if fits else -1.0
            results.append(_Best(joint, b.part, windows) if joint > b.support else b)
        return results

    def _sentences(self, prepared: Sequence[_PreparedCase], best: Sequence[_Best]) -> list[tuple[Evidence, ...]]:
        """Return the best sentence of each window that supports a case, with offsets in its document."""
        inside = [[(window, sentence_spans(window.span.text)) for window in b.windows] for b in best]
        pairs = [
            Pair(window.titled(window.span.text[s.start : s.end]), b.part, r.question, r.full_evidence)
            for r, b, windows in zip(prepared, best, inside, strict=True)
            for window, sentences in windows
            for s in sentences
            if len(sentences) > 1
        ]
        scores = iter(self._scores(pairs))
        results = []
        for windows in inside:
            found = []
            for window, sentences in windows:
                scored = [(next(scores) if len(sentences) > 1 else 1.0, s) for s in sentences]
                known = [pair for pair in scored if not math.isnan(pair[0])] or scored
                found.append(window.evidence(max(known, key=lambda pair: pair[0])[1]))
            results.append(tuple(found))
        return results

    def _scores(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """Return the score of each pair; NaN if the scorer does not return a number in [0, 1]."""
        if not pairs:
            return ()
        scores = self._scorer.score(pairs)
        if len(scores) != len(pairs):
            raise EvaluationError(f"the scorer gave {len(scores)} scores for {len(pairs)} pairs")
        return [score if 0.0 <= score <= 1.0 else math.nan for score in scores]


def _premise(windows: Sequence[_EvidenceWindow]) -> str:
    """Return one or two windows as the scorer reads them, each after its title. A title is not repeated."""
    titles = [window.title for window in windows]
    texts = [
        window.titled(window.span.text) if window.title not in titles[:index] else window.span.text
        for index, window in enumerate(windows)
    ]
    return " ".join(texts)
