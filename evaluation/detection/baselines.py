"""Two simple baseline scorers, as PairScorers, for comparison with a trained verifier.

Neither is calibrated: support is a share of words or a cosine, used as if it were a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from model.errors import ModelError
from model.pairs.scoring import Pair
from retrieval.encoding.encoder import Encoder
from retrieval.sparse.tokenising import TokenisingParams, tokenise_all

_WINDOW_WORDS = 250
_CONTENT = TokenisingParams(stemming="none", stop_words="english")
_ALL_WORDS = TokenisingParams(stemming="none", stop_words="none")


class TokenOverlapScorer:
    """A scorer whose support is the share of the claim's content words that occur in the evidence.

    Words are compared in lower case, without stop words.
    """

    @property
    def name(self) -> str:
        """Name "token-overlap" with the version of the rule."""
        return "token-overlap/1"

    def room(self, claim: str, question: str = "") -> int:
        """Return the window size in words, which is 250 for every claim."""
        return _WINDOW_WORDS

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of words of each text, separated by white space."""
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Score pairs. Repeated words of the claim count each time.

        A claim that consists of stop words is judged by them. Raises ModelError for a claim without words.
        """
        scores = []
        claims = zip(
            tokenise_all((pair.claim for pair in pairs), _CONTENT),
            tokenise_all((pair.claim for pair in pairs), _ALL_WORDS),
            strict=True,
        )
        for pair, (content, everything) in zip(pairs, claims, strict=True):
            words = content or everything
            if not words:
                raise ModelError(f"the claim {pair.claim[:80]!r} has no words to compare")
            evidence_words = set(next(iter(tokenise_all((pair.evidence,), _ALL_WORDS))))
            scores.append(sum(word in evidence_words for word in words) / len(words))
        if progress is not None:
            progress(len(pairs), len(pairs))
        return tuple(scores)


class CosineScorer:
    """A scorer whose support is the cosine of a claim (with its question) and its evidence by a sentence encoder.

    Negative values become 0.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def name(self) -> str:
        """Name "cosine" with the encoder's fingerprint."""
        return f"cosine/{self._encoder.fingerprint[:12]}"

    def room(self, claim: str, question: str = "") -> int:
        """Return the encoder's maximum length minus its two special tokens.

        Claim and evidence are encoded separately.
        """
        return max(1, self._encoder.max_tokens - 2)

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of the encoder's tokens of each text."""
        return self._encoder.count_tokens(texts)

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Score pairs. Each distinct text is encoded once. Raises ModelError for an empty claim."""
        if not pairs:
            return ()
        for pair in pairs:
            if not pair.claim.strip():
                raise ModelError("the claim is empty: there is nothing to judge")
        claims, claim_rows = _distinct([f"{pair.question} {pair.claim}".strip() for pair in pairs])
        evidence, evidence_rows = _distinct([pair.evidence for pair in pairs])
        left = self._encoder.encode_passages(claims)[claim_rows]  # (N, E)
        right = self._encoder.encode_passages(evidence)[evidence_rows]
        cosines = np.clip(np.einsum("ne,ne->n", left, right), 0.0, 1.0)
        if progress is not None:
            progress(len(pairs), len(pairs))
        return tuple(float(value) for value in cosines)


def _distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts in order, and for each text the index of its distinct text."""
    row_of: dict[str, int] = {}
    rows = [row_of.setdefault(text, len(row_of)) for text in texts]
    return list(row_of), np.array(rows, dtype=np.intp)
