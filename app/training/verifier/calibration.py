"""Calibrating a trained verifier on other evidence of the sources it was trained on: claims alone, and in answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from data.pairs import PairExample
from evaluation.detection.calibration import Calibration, fit_platt
from evaluation.errors import EvaluationError
from evaluation.evidence.rendering import read_evidence
from evaluation.training_examples.answer_rows import AnswerMix, answer_rows, by_answer
from evaluation.training_examples.verifier_rows import WindowMix, verifier_rows
from model.pairs.scoring import Pair
from model.training.pair_rows import PairRow
from model.verifier.answer_context import is_short_answer_claim
from model.verifier.files import LoadedSupport, SupportUse
from model.verifier.lexical_penalty import lack
from model.verifier.scorer import SupportScorer
from model.verifier.tokens import AnswerWindow

_EVERY_WINDOW = 1000
_FEWEST_SHORT = 30


@dataclass(frozen=True, slots=True)
class CalibratedUse:
    """use: with the curves that could be fitted. alone: that of claims read alone, None where it could not.

    claims: how many claims read alone, short answers among them, and answers: how many claims read together the curves
    were fitted on.
    """

    use: SupportUse
    alone: Calibration | None = None
    claims: int = 0
    answers: int = 0


def calibrated(
    loaded: LoadedSupport,
    use: SupportUse,
    pairs: Sequence[PairExample],
    held: Sequence[PairExample],
    *,
    say: Callable[[str], None],
) -> CalibratedUse:
    """``use`` with the calibration of claims alone and, where it reads claims together, of claims in their answers.

    loaded: the network. pairs: claims to fit the first on. held: those of which the answers fit the second; each source
    counts the same. What ``use`` takes off for what evidence lacks stands beside the curves as they are fitted, so that
    a support of 0.5 means even odds with it. Where one cannot be fitted, ``say`` is told why, and the first stays as it
    is, the second becomes the first. Short answers among the pairs have a curve of their own, and no part in the first,
    where there are at least 30 right and 30 wrong ones.
    """
    if not pairs:
        say("not calibrated: no pair of other evidence is held out")
        return CalibratedUse(use)
    scorer, lacking = SupportScorer(loaded), use
    # A claim of characters that are no tokens gives no row and has no logit.
    counts = scorer.count([example.claim for example in pairs])
    read = [example for example, count in zip(pairs, counts, strict=True) if count]
    raw = list(zip(read, score_pairs_raw(scorer, read), strict=True))
    short = [(e, x) for e, x in raw if is_short_answer_claim(e.question, e.claim)]
    answering = _fit_enough(short, lacking, say)
    others = [(e, x) for e, x in raw if not is_short_answer_claim(e.question, e.claim)] if answering else raw
    alone = _fit([x for _, x in others], [e for e, _ in others], lacking, "claims read alone", say)
    together_claims = 0
    if alone is not None:
        use = replace(use, slope=alone.slope, intercept=alone.intercept)
    if answering is not None:
        use = replace(use, short_slope=answering.slope, short_intercept=answering.intercept)
    if use.answer_tokens:
        answers = by_answer(held)[1]
        logits, claims = score_answers_raw(scorer, answers, use.answer_tokens)
        # Where it cannot be fitted, the other curve is nearer than none.
        fitted = _fit(logits, claims, lacking, "claims read together", say)
        together_claims = len(claims) if fitted else 0
        together = fitted or alone
        if together is not None:
            use = replace(use, answer_slope=together.slope, answer_intercept=together.intercept)
    count = (len(others) if alone else 0) + (len(short) if answering else 0)
    return CalibratedUse(use, alone, count, together_claims)


def score_pairs_raw(scorer: SupportScorer, examples: Sequence[PairExample]) -> tuple[float, ...]:
    """The uncalibrated logit of each pair: of its best window. Each claim must have a token, or it has no logit."""
    return row_logits(scorer, list(verifier_rows(examples, scorer.tokens, mix=WindowMix(_EVERY_WINDOW, 0.0))))


def score_answers_raw(
    scorer: SupportScorer, answers: Sequence[Sequence[PairExample]], tokens: int
) -> tuple[tuple[float, ...], list[PairExample]]:
    """The uncalibrated logit of each claim that has a token and neighbours to be read with, and these claims."""
    counts = [scorer.count([example.claim for example in answer]) for answer in answers]
    read = [
        [example for example, count in zip(answer, sizes, strict=True) if count]
        for answer, sizes in zip(answers, counts, strict=True)
    ]
    rows = list(answer_rows(read, scorer.tokens, mix=AnswerMix(tokens, _EVERY_WINDOW, 0.0)))
    claims = [example for answer in read for example in answer]
    logits = row_logits(scorer, rows)
    among = [len(row.claims) > 1 for row in rows for _ in row.claims]  # one by itself is read as ever
    kept = [i for i, several in enumerate(among) if several]
    return tuple(logits[i] for i in kept), [claims[i] for i in kept]


def row_logits(scorer: SupportScorer, rows: Sequence[PairRow]) -> tuple[float, ...]:
    """Of every claim of every row, in order, the uncalibrated logit in its best window."""
    windows = [
        AnswerWindow(window, tuple((claim.start, claim.end) for claim in row.claims))
        for row in rows
        for window in row.windows
    ]
    found = iter(scorer.window_logits(windows))
    out: list[float] = []
    for row in rows:
        each = torch.tensor([next(found) for _ in row.windows], dtype=torch.float64)  # (windows, claims)
        out += each.amax(dim=0).tolist()
    return tuple(out)


def _fit_enough(
    short: Sequence[tuple[PairExample, float]], use: SupportUse, say: Callable[[str], None]
) -> Calibration | None:
    """The curve of short answers; None where there are too few of a kind for one of their own, or none fits."""
    right = sum(example.supported for example, _ in short)
    if min(right, len(short) - right) < _FEWEST_SHORT:
        return None
    return _fit([x for _, x in short], [example for example, _ in short], use, "short answers", say)


def _fit(
    logits: Sequence[float],
    examples: Sequence[PairExample],
    use: SupportUse,
    what: str,
    say: Callable[[str], None],
) -> Calibration | None:
    """Platt's curve beside what is taken off by rule, each source counting the same."""
    sizes = Counter(example.source for example in examples)
    weights = [1 / sizes[e.source] for e in examples]
    # In all of the evidence: in the window that was read alone, for long evidence, less of a question might stand.
    pairs = [Pair(read_evidence(e.evidence).text, e.claim, e.question) for e in examples]
    try:
        return fit_platt(logits, [e.supported for e in examples], weights, [-lack(pair, use) for pair in pairs])
    except EvaluationError as error:
        say(f"{what} are not calibrated: {error}")
        return None
