"""The baseline scorers, token overlap and cosine, compared with hand-computed values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluation.detection.baselines import CosineScorer, TokenOverlapScorer
from model.errors import ModelError
from model.pairs.scoring import Pair
from retrieval.encoding.encoder import unit_vectors


def test_token_overlap_by_hand() -> None:
    scorer = TokenOverlapScorer()
    evidence = "The café opens at nine, and serves CAKE."
    claims = ("The café serves cake.", "A café sells cake and tea.", "It is in that.", "Nine nine five")
    found = scorer.score([Pair(evidence, claim) for claim in claims])
    assert found == pytest.approx((1.0, 2 / 4, 0.0, 2 / 3))
    assert scorer.score([]) == ()
    with pytest.raises(ModelError, match="no words"):
        scorer.score([Pair(evidence, "?")])


class Letters:
    """An encoder whose vectors count the letters of a text. It records the texts that it encodes."""

    fingerprint, dimension, max_tokens = "f" * 64, 26, 20

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen.extend(texts)
        counts = [[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts]
        return unit_vectors(np.array(counts, dtype=np.float32), texts, 26)

    encode_queries = encode_passages

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


def test_cosine_reads_the_question_and_encodes_a_text_once() -> None:
    encoder = Letters()
    scorer = CosineScorer(encoder)
    found = scorer.score([Pair("aab", "ab"), Pair("aab", "c"), Pair("ab", "b", "a"), Pair("aab", "ab")])
    assert found == pytest.approx((3 / np.sqrt(10), 0.0, 1.0, 3 / np.sqrt(10)))
    assert encoder.seen == ["ab", "c", "a b", "aab", "ab"]
    assert (scorer.room("x"), scorer.count(["a b"]), scorer.score([])) == (18, (2,), ())
    with pytest.raises(ModelError, match="empty"):
        scorer.score([Pair("x", " ")])
