"""Calibrate a trained verifier on held-out evidence, for claims that are judged separately and in answers."""

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
from model.verifier.lexical_penalty import lexical_penalty
from model.verifier.scorer import SupportScorer
from model.verifier.tokens import AnswerWindow

_EVERY_WINDOW = 1000
_FEWEST_SHORT = 30


@dataclass(frozen=True, slots=True)
class CalibratedUse:
    """The result of a calibration.

    use: settings with the fitted curves. alone: curve of claims that are judged separately; None if it could not be
    fitted. claims: number of claims that were judged separately, including short answers. answers: number of claims
    that were judged together with others.
    """

    use: SupportUse
    alone: Calibration | None = None
    claims: int = 0
    answers: int = 0


def calibrated(
    loaded: LoadedSupport,
    use: SupportUse,
    pairs: Sequence[PairExample],
    held_out: Sequence[PairExample],
    *,
    notify: Callable[[str], None],
) -> CalibratedUse:
    """Fit the calibration curves of a verifier and return its settings with them.

    One curve is for claims that are judged separately, one for short answers, and one for claims in answers if the
    verifier judges claims together. All sources have equal weight. The penalties of ``use`` for missing numbers, names
    and words are applied before fitting, so that a support of 0.5 means even odds with them. Short answers have their
    own curve if at least _FEWEST_SHORT right and wrong ones exist; otherwise they belong to the first curve.

    loaded: the network. use: settings without calibration. pairs: claims for the first two curves. held_out: claims
    whose answers are used for the third. say: called with the reason if a curve cannot be fitted. The first curve then
    stays unchanged, and the third one equals the first.
    """
    if not pairs:
        notify("not calibrated: no pair with held-out evidence")
        return CalibratedUse(use)
    scorer, lacking = SupportScorer(loaded), use
    # A claim without tokens has no row and no logit.
    counts = scorer.count([example.claim for example in pairs])
    read = [example for example, count in zip(pairs, counts, strict=True) if count]
    raw = list(zip(read, score_pairs_raw(scorer, read), strict=True))
    short = [(e, x) for e, x in raw if is_short_answer_claim(e.question, e.claim)]
    answering = _fit_enough(short, lacking, notify)
    others = [(e, x) for e, x in raw if not is_short_answer_claim(e.question, e.claim)] if answering else raw
    alone = _fit([x for _, x in others], [e for e, _ in others], lacking, "claims read separately", notify)
    together_claims = 0
    if alone is not None:
        use = replace(use, slope=alone.slope, intercept=alone.intercept)
    if answering is not None:
        use = replace(use, short_slope=answering.slope, short_intercept=answering.intercept)
    if use.answer_tokens:
        answers = by_answer(held_out)[1]
        logits, claims = score_answers_raw(scorer, answers, use.answer_tokens)
        # If this curve cannot be fitted, the curve of separate claims is better than none.
        fitted = _fit(logits, claims, lacking, "claims read together", notify)
        together_claims = len(claims) if fitted else 0
        together = fitted or alone
        if together is not None:
            use = replace(use, answer_slope=together.slope, answer_intercept=together.intercept)
    count = (len(others) if alone else 0) + (len(short) if answering else 0)
    return CalibratedUse(use, alone, count, together_claims)


def score_pairs_raw(scorer: SupportScorer, examples: Sequence[PairExample]) -> tuple[float, ...]:
    """Return the uncalibrated logit of each pair, from its best window. Every claim must have a token."""
    return row_logits(scorer, list(verifier_rows(examples, scorer.tokens, mix=WindowMix(_EVERY_WINDOW, 0.0))))


def score_answers_raw(
    scorer: SupportScorer, answers: Sequence[Sequence[PairExample]], tokens: int
) -> tuple[tuple[float, ...], list[PairExample]]:
    """Return the uncalibrated logits of claims that are judged together with others, and these claims.

    Claims without tokens and single claims are left out. tokens: maximum number of tokens of claims in a row.
    """
    counts = [scorer.count([example.claim for example in answer]) for answer in answers]
    read = [
        [example for example, count in zip(answer, sizes, strict=True) if count]
        for answer, sizes in zip(answers, counts, strict=True)
    ]
    rows = list(answer_rows(read, scorer.tokens, mix=AnswerMix(tokens, _EVERY_WINDOW, 0.0)))
    claims = [example for answer in read for example in answer]
    logits = row_logits(scorer, rows)
    among = [len(row.claims) > 1 for row in rows for _ in row.claims]  # a single claim is judged separately
    kept = [i for i, several in enumerate(among) if several]
    return tuple(logits[i] for i in kept), [claims[i] for i in kept]


def row_logits(scorer: SupportScorer, rows: Sequence[PairRow]) -> tuple[float, ...]:
    """Return the uncalibrated logit of each claim of each row, in order, from its best window."""
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
    short: Sequence[tuple[PairExample, float]], use: SupportUse, notify: Callable[[str], None]
) -> Calibration | None:
    """Return the curve of short answers; None if there are too few or the curve cannot be fitted."""
    right = sum(example.supported for example, _ in short)
    if min(right, len(short) - right) < _FEWEST_SHORT:
        return None
    return _fit([x for _, x in short], [example for example, _ in short], use, "short answers", notify)


def _fit(
    logits: Sequence[float],
    examples: Sequence[PairExample],
    use: SupportUse,
    what: str,
    notify: Callable[[str], None],
) -> Calibration | None:
    """Fit Platt scaling with the rule-based penalties and equal weight of all sources. Return None if this fails."""
    sizes = Counter(example.source for example in examples)
    weights = [1 / sizes[e.source] for e in examples]
    # The penalties are computed on the entire evidence, because a single window may lack words of the question.
    pairs = [Pair(read_evidence(e.evidence).text, e.claim, e.question) for e in examples]
    try:
        return fit_platt(
            logits, [e.supported for e in examples], weights, [-lexical_penalty(pair, use) for pair in pairs]
        )
    except EvaluationError as error:
        notify(f"{what} are not calibrated: {error}")
        return None
