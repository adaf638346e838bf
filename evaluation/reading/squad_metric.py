"""Exact match and F1 as the official SQuAD script compares texts, so that figures stand beside published ones.

Not how this project compares answers elsewhere (evaluation.language.normalise): there "Ada-Thorne" is "Ada Thorne" and
"3.5" is not "35"; here they are what the script makes of them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from evaluation.language.normalise import token_f1

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_tokens(text: str) -> tuple[str, ...]:
    """Lower case, without ASCII punctuation, then without articles, split at blanks (Rajpurkar et al. 2016, 6.1)."""
    return tuple(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def squad_exact(prediction: str, references: Sequence[str]) -> bool:
    """Whether the tokens are those of any reference."""
    tokens = squad_tokens(prediction)
    return any(tokens == squad_tokens(reference) for reference in references)


def squad_f1(prediction: str, references: Sequence[str]) -> float:
    """The highest F1 over token multisets with any reference; without tokens on one side, 1 if on both, else 0."""
    tokens = squad_tokens(prediction)
    scores = []
    for reference in references:
        other = squad_tokens(reference)
        scores.append(token_f1(tokens, other) if tokens and other else float(tokens == other))
    return max(scores, default=0.0)
