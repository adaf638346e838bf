"""Draw of labels that prefers questions with uncertain verdicts, as a LabelDraw with drawing probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.correction.labelled_run import ResponseKey
from evaluation.correction.sampling import ONE_STRATUM, DrawnQuestion, DrawnSample, LabelDraw, Stratum, allowed_number
from evaluation.errors import EvaluationError
from evaluation.guarantee.active import FLOOR_SHARE, active_probabilities, draw

UNKNOWN = 0.5
"""Probability assumed for a response without a score: maximal uncertainty."""


def draw_active_labels(
    scores: Mapping[ResponseKey, float | None], arms: Sequence[str], questions: int, seed: int
) -> LabelDraw:
    """Draw about ``questions`` questions independently, and one sample of every arm in each.

    scores: the verifier's score of each response, None if it has none. The uncertainty of a question is that of its
    mean score over these arms. The number drawn is random with mean ``questions``. Raises EvaluationError if no
    question has all arms, if more questions are requested than available, or if fewer than 2 were drawn.
    """
    responses: dict[str, dict[str, list[int]]] = {}
    for question, arm, sample in scores:
        responses.setdefault(question, {}).setdefault(arm, []).append(sample)
    frame = sorted(q for q, by_arm in responses.items() if all(arm in by_arm for arm in arms))
    if not arms or not 2 <= questions <= len(frame):
        raise EvaluationError(
            f"{questions} questions to label were requested, but {len(frame)} questions have responses in all of these "
            f"arms: {', '.join(arms) or 'none'}. {allowed_number(len(frame))}"
        )
    predicted = np.array([_mean([scores[q, a, s] for a in arms for s in responses[q][a]]) for q in frame])
    probability = active_probabilities(predicted, questions)
    drawn = np.flatnonzero(draw(probability, seed))
    if len(drawn) < 2:
        raise EvaluationError(
            f"only {len(drawn)} questions were drawn by chance: at least 2 are needed. Use another seed"
        )
    rng = np.random.default_rng([seed, len(frame), questions, 2])
    picked = []
    for index in rng.permutation(drawn):
        by_arm = responses[frame[index]]
        samples = tuple(
            DrawnSample(arm, sorted(by_arm[arm])[int(rng.integers(len(by_arm[arm])))], 1.0 / len(by_arm[arm]))
            for arm in arms
        )
        picked.append(DrawnQuestion(frame[index], ONE_STRATUM, float(probability[index]), samples))
    return LabelDraw(
        seed,
        tuple(arms),
        len(frame),
        len(responses) - len(frame),
        (Stratum(ONE_STRATUM, len(frame), len(drawn)),),
        tuple(picked),
        floor=FLOOR_SHARE * questions / len(frame),
    )


def _mean(scores: Sequence[float | None]) -> float:
    return sum(UNKNOWN if s is None else 1.0 - s for s in scores) / len(scores)
