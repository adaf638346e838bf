"""Score held-out claims during the training of a verifier.

The loss alone is not informative, because warm starts get worse before they improve. If the learning rate is too high,
the network can collapse to one logit for every input although the loss is hardly higher. Held-out claims show this.
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
    """A progress callback that scores held-out claims at the start and after every ``every`` steps.

    alone: held-out claims that are judged separately. answers: held-out answers whose claims are judged together.
    every: number of steps between two scorings; 0 for no scoring. say: called with the scores. forward_to: callback to
    which the progress is forwarded.
    """

    def __init__(
        self,
        model: SupportEncoder,
        use: SupportUse,
        alone: Sequence[PairExample],
        answers: Sequence[Sequence[PairExample]],
        every: int,
        notify: Callable[[str], None],
        forward_to: Callable[[TrainProgress], None] | None,
    ) -> None:
        self._model, self._every, self._notify, self._forward_to = model, every, notify, forward_to
        self._tokens = use.answer_tokens
        self._scorer = SupportScorer(LoadedSupport(model, use, "in training"))
        counts = self._scorer.count([claim.claim for claim in alone])
        self._alone = [claim for claim, count in zip(alone, counts, strict=True) if count]
        self._answers = answers

    def begin(self) -> None:
        """Score the initial weights."""
        if self._every:
            self._check("the initial weights")

    def __call__(self, progress: TrainProgress) -> None:
        """Forward the progress of a step, and score the claims if it is due."""
        if self._forward_to is not None:
            self._forward_to(progress)
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
            self._notify(f"{when}: AUROC on held-out claims {', '.join(supports)}")


def _figure(logits: Sequence[float], claims: Sequence[PairExample], how: str) -> str:
    value = auroc(np.array(logits, dtype=np.float64), np.array([claim.supported for claim in claims], dtype=np.bool_))
    return f"{'undefined' if value is None else f'{value:.3f}'} ({len(claims)} read {how})"
