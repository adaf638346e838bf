"""Cache scores by the content of pairs, because samples and arms of a run repeat the same pairs."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from evaluation.verifiers.layered_scorer import WrappingScorer, without_reader
from model.pairs.scoring import Pair, PairScorer

LIMIT = 200_000
"""Maximum number of cached scores (about 30 MB). The least recently used entries are evicted."""


class CachedScorer(WrappingScorer):
    """A PairScorer that caches the scores of another one. It has the other's name, because it gives the same scores.

    It is thread-safe if the wrapped scorer is, and then calls the wrapped scorer from several threads at a time.
    """

    def __init__(self, scorer: PairScorer, limit: int = LIMIT) -> None:
        """Wrap a scorer. limit: maximum number of cached scores. Raises ValueError below 1."""
        if limit < 1:
            raise ValueError(f"the limit is {limit}: at least one score must be kept")
        super().__init__(scorer)
        self._limit = limit
        inner = without_reader(scorer)
        self._network = self if inner is scorer else CachedScorer(inner, limit)
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()
        self.received = self.scored = 0

    @property
    def name(self) -> str:
        """Name of the wrapped scorer."""
        return self._scorer.name

    @property
    def network(self) -> PairScorer:
        """This scorer, or a new cache around the wrapped scorer's network."""
        return self._network

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair (see ``PairScorer.score``).

        Only new pairs are scored, in one call. NaN is not cached. The counters ``received`` and ``scored`` count the
        received pairs and the pairs that the wrapped scorer scored.
        """
        evidence_hashes: dict[str, bytes] = {}  # many pairs share one long text, so it is hashed once
        for pair in pairs:
            if pair.full_evidence not in evidence_hashes:
                evidence_hashes[pair.full_evidence] = hashlib.sha256(_bytes(pair.full_evidence)).digest()
        keys = [_key(pair, evidence_hashes[pair.full_evidence]) for pair in pairs]
        new: dict[bytes, Pair] = {}
        scores: dict[bytes, float] = {}
        with self._lock:
            for key, pair in zip(keys, pairs, strict=True):
                if key in self._known:
                    self._known.move_to_end(key)
                    scores[key] = self._known[key]
                else:
                    new[key] = pair
        if new:
            scores.update(zip(new, self._scorer.score(tuple(new.values()), progress), strict=True))
        with self._lock:
            self._keep({key: scores[key] for key in new})
            self.received += len(pairs)
            self.scored += len(new)
        return tuple(scores[key] for key in keys)

    def _keep(self, scores: dict[bytes, float]) -> None:
        self._known.update((key, score) for key, score in scores.items() if score == score)
        while len(self._known) > self._limit:
            self._known.popitem(last=False)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key(pair: Pair, evidence_hash: bytes) -> bytes:
    digest = hashlib.sha256(evidence_hash)
    for data in map(_bytes, (pair.evidence, pair.claim, pair.question, *pair.answer)):
        digest.update(len(data).to_bytes(8))
        digest.update(data)
    return digest.digest()
