"""Validation during a verifier's training: scores held-out claims every N steps.

The loss alone is not informative: warm starts get worse before they improve. A run with too high a learning rate for
its rows can collapse to one logit for every input with a hardly higher loss (0.75 instead of 0.58, 2026-11-25);
held-out claims show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from app.training.verifier.calibration import score_answers_raw, score_pairs_raw
from data.pairs import PairExample
from evaluation.detection.metrics import auroc
from model.training.loop import TrainProgress
from model.verifier.encoder import SupportEncoder
from model.verifier.files import LoadedSupport, SupportUse
from model.verifier.scorer import SupportScorer


class ValidationCallback:
    """Forwards progress; at the start, and every ``every`` steps, it scores the claims and reports the result.

    alone: held-out claims read separately. answers: the claims of held-out answers, read together. every: 0 for never.
    """

    def __init__(
        self,
        model: SupportEncoder,
        use: SupportUse,
        alone: Sequence[PairExample],
        answers: Sequence[Sequence[PairExample]],
        every: int,
        say: Callable[[str], None],
        passed_on: Callable[[TrainProgress], None] | None,
    ) -> None:
        self._model, self._every, self._say, self._passed_on = model, every, say, passed_on
        self._tokens = use.answer_tokens
        self._scorer = SupportScorer(LoadedSupport(model, use, "in training"))
        counts = self._scorer.count([claim.claim for claim in alone])
        self._alone = [claim for claim, count in zip(alone, counts, strict=True) if count]
        self._answers = answers

    def begin(self) -> None:
        """Report the scores of the initial weights."""
        if self._every:
            self._check("the initial weights")

    def __call__(self, progress: TrainProgress) -> None:
        """Handle one finished step."""
        if self._passed_on is not None:
            self._passed_on(progress)
        if self._every and progress.step % self._every == 0 and progress.step < progress.steps:
            self._check(f"step {progress.step}")

    def _check(self, when: str) -> None:
        training = self._model.training
        self._model.eval()
        supports = []
        if self._alone:
            supports.append(_figure(score_pairs_raw(self._scorer, self._alone), self._alone, "separately"))
        if self._answers:
            logits, claims = score_answers_raw(self._scorer, self._answers, self._tokens)
            if claims:
                supports.append(_figure(logits, claims, "in their answers"))
        self._model.train(training)
        if supports:
            self._say(f"{when}: AUROC on held-out claims {', '.join(supports)}")


def _figure(logits: Sequence[float], claims: Sequence[PairExample], how: str) -> str:
    value = auroc(np.array(logits, dtype=np.float64), np.array([claim.supported for claim in claims], dtype=np.bool_))
    return f"{'undefined' if value is None else f'{value:.3f}'} ({len(claims)} read {how})"
