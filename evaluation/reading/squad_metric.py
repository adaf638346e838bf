"""Compute exact match and F1 as in the official SQuAD script, for comparison with published results.

The rest of the project compares answers differently (evaluation.language.normalise). There "Ada-Thorne" equals "Ada
Thorne" and "3.5" differs from "35". Here the rules of the script apply.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from evaluation.language.normalise import token_f1

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_tokens(text: str) -> tuple[str, ...]:
    """Return lower-case tokens without ASCII punctuation and articles, split at blanks (Rajpurkar et al. 2016, 6.1)."""
    return tuple(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def squad_exact(prediction: str, references: Sequence[str]) -> bool:
    """Return whether the tokens equal those of any reference."""
    tokens = squad_tokens(prediction)
    return any(tokens == squad_tokens(reference) for reference in references)


def squad_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the highest F1 of token multisets with any reference.

    If a side has no tokens, F1 is 1 if both have none, else 0.
    """
    tokens = squad_tokens(prediction)
    scores = []
    for reference in references:
        other = squad_tokens(reference)
        scores.append(token_f1(tokens, other) if tokens and other else float(tokens == other))
    return max(scores, default=0.0)
