"""Score short answers with a reader: combine the reader's probability of the answer with the network's support.

A short answer that occurs in a passage carries little information for a network that compares texts. The embedded
reader is trained to answer questions, so the claim is compared with the reader's distribution over answers. The network
is used as well, because the two err on different answers, and a reader alone supports its own confident errors
(docs/verifiers.md).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import lru_cache

from evaluation.errors import EvaluationError
from evaluation.language.normalise import token_f1
from evaluation.verifiers.layered_scorer import WrappingScorer
from generation.errors import GenerationError
from generation.reader.answer_likelihood import MAX_TOKENS, AnswerLikelihoods, answer_likelihoods
from generation.reader.reader import EmbeddedReader
from model.pairs.scoring import Pair, PairScorer
from model.verifier.answer_context import is_short
from model.verifier.content_words import content_words
from retrieval.chunking.chunker import chunk_spans
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.chunking.params import ChunkingParams

RULES = 5
"""Version of the reading method and of the choice of pairs to read. It is part of the scorer's name."""
READING = "+reading:"
"""Part of the name of a scorer that reads, before the first digits of the reader's fingerprint."""
_SMALL = frozenset(("a", "an", "the"))
_KEPT = 64  # number of texts, including full evidence, whose token IDs are cached


@dataclass(frozen=True, slots=True)
class ReadingUse:
    """Parameters of support = sigmoid(slope * log(E + floor) + network * logit(V) + intercept).

    V is the other scorer's support. E is the expected token F1 between the claim and the reader's answer: P(claim) +
    P(own) F1(own, claim), where own is the reader's own answer. Only these two answers are considered, so E is a lower
    bound.

    floor: value below which E carries no information, because a right answer in other words is as improbable as a
        wrong one.
    network: weight of the other scorer; 0 disables it.

    Raises EvaluationError for invalid parameters.
    """

    slope: float
    intercept: float
    floor: float
    network: float = 0.0

    def __post_init__(self) -> None:
        if not (all(map(math.isfinite, astuple(self))) and self.slope > 0 < self.floor and self.network >= 0):
            raise EvaluationError(
                f"{self}: a positive slope and floor, a network's share of at least 0 and a finite intercept are needed"
            )

    def support(self, log_expected: float, other: float = 0.5) -> float:
        """Return the support from a claim's log E and the other scorer's support. NaN stays NaN."""
        read = self.slope * math.log(math.exp(log_expected) + self.floor)
        return _sigmoid(read + self.network * logit(other) + self.intercept)


class ShortAnswerScorer(WrappingScorer):
    """A PairScorer that reads short answers found in their evidence. The wrapped scorer judges everything else.

    ``ReadingUse.network`` is the weight of the wrapped scorer for short answers. A short answer has a question and at
    most 8 words with some content, and is not read together with other claims. If the window contains it, the reader
    scores it. If only another window contains it, its support is 0. If no window contains it, the wrapped scorer
    judges, because the evidence may express it in other words.
    """

    def __init__(
        self, scorer: PairScorer, load: Callable[[], EmbeddedReader], fingerprint: str, use: ReadingUse
    ) -> None:
        """Create the scorer.

        load: loads the reader; called at the first short answer.
        fingerprint: fingerprint of the reader.
        """
        super().__init__(scorer)
        self._load, self._use = load, use
        self._reader: EmbeddedReader | None = None
        decides = json.dumps([fingerprint, asdict(use), RULES], sort_keys=True)
        rules = hashlib.sha256(decides.encode()).hexdigest()[:8]
        self._name = f"{scorer.name}{READING}{_digits(fingerprint)}-{rules}"
        self._ids = lru_cache(maxsize=_KEPT)(self._encoded)

    @property
    def name(self) -> str:
        """``OTHER+reading:READER-RULES``, eight digits each."""
        return self._name

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        """Return the support of each pair (see ``PairScorer.score``). Raises the errors of the wrapped scorer."""
        unique = list(dict.fromkeys(pairs))
        scores_by_pair: dict[Pair, float] = {}
        reading: dict[tuple[str, str], list[Pair]] = defaultdict(list)
        for pair in unique:
            if not is_short_answer(pair):
                continue
            if self._occurs(pair.claim, pair.evidence):
                reading[pair.question, pair.evidence].append(pair)
            elif pair.full_evidence and self._occurs(pair.claim, pair.full_evidence):
                scores_by_pair[pair] = 0.0

        to_read = sum(map(len, reading.values()))
        steps = len(unique) + (to_read if self._use.network else 0)  # pairs to read are also scored

        def report(done: int) -> None:
            if progress is not None and unique:
                progress(len(pairs) * done // steps, len(pairs))

        read: dict[Pair, float] = {}
        for (question, evidence), window_pairs in reading.items():
            logs = self.log_expected(question, evidence, [pair.claim for pair in window_pairs])
            read.update((pair, x) for pair, x in zip(window_pairs, logs, strict=True) if not math.isnan(x))
            report(len(scores_by_pair) + len(read))
        to_score = [p for p in unique if p not in scores_by_pair and (p not in read or self._use.network)]
        before = steps - len(to_score)
        if to_score:
            scores = self._scorer.score(to_score, lambda done, _: report(before + done))
            scores_by_pair.update(zip(to_score, scores, strict=True))
        scores_by_pair.update((pair, self._use.support(x, scores_by_pair.get(pair, 0.5))) for pair, x in read.items())
        return tuple(scores_by_pair[pair] for pair in pairs)

    def reads(self, pair: Pair) -> bool:
        """Return whether the claim is a short answer that the window or the full evidence contains.

        Other pairs are judged only by the wrapped scorer.
        """
        return is_short_answer(pair) and any(
            self._occurs(pair.claim, text) for text in (pair.evidence, pair.full_evidence) if text
        )

    def log_expected(self, question: str, evidence: str, claims: Sequence[str]) -> list[float]:
        """Return log E of each claim (see ReadingUse), the input of the calibration.

        It is NaN for a claim with too many tokens, and if the question leaves no space for evidence.
        """
        tokens = [self._claim_tokens(claim) for claim in claims]
        batch = [ids for ids in tokens if ids]
        reader = self._opened()
        try:
            prompt = reader.prompt(question, self._chunks(evidence), MAX_TOKENS)
        except GenerationError:
            return [math.nan] * len(claims)
        known = answer_likelihoods(reader, prompt, batch)
        logprobs = iter(known.logprobs)
        return [self._expected(ids, next(logprobs), known) if ids else math.nan for ids in tokens]

    def _expected(self, claim: tuple[int, ...], logprob: float, known: AnswerLikelihoods) -> float:
        if known.own_logprob is None or known.own == claim:
            return logprob
        share = token_f1(self._words(known.own), self._words(claim))
        if not share:
            return logprob
        other = math.log(share) + known.own_logprob
        high, low = max(logprob, other), min(logprob, other)
        return high + math.log1p(math.exp(low - high))

    def _words(self, ids: Sequence[int]) -> list[str]:
        """Return the word pieces without punctuation and articles, as in SQuAD's F1."""
        tokenizer = self._opened().vocabulary.tokenizer
        pieces = [tokenizer.token(token) for token in ids]
        return [piece for piece in pieces if piece not in _SMALL and any(c.isalnum() for c in piece)]

    def _chunks(self, evidence: str) -> list[RetrievedChunk]:
        """Split the window into passages as in the reader's training."""
        spans = chunk_spans(evidence, self._reader_count, ChunkingParams())
        cut = [Chunk("evidence", span.start, span.end, evidence[span.start : span.end], "") for span in spans]
        return [RetrievedChunk(chunk, 0.0, rank) for rank, chunk in enumerate(cut, start=1)]

    def _reader_count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(e.token_ids) for e in self._opened().vocabulary.tokenizer.encode_many(texts)]

    def _occurs(self, claim: str, evidence: str) -> bool:
        ids = self._claim_tokens(claim)
        return bool(ids) and f" {' '.join(map(str, ids))} " in self._ids(evidence)

    def _claim_tokens(self, claim: str) -> tuple[int, ...]:
        """Return the tokens without the final full stop; empty if there are too many."""
        ids = self._opened().vocabulary.tokenizer.encode(claim.strip(" \n\t.\"'")).token_ids
        return ids if len(ids) < MAX_TOKENS else ()

    def _encoded(self, text: str) -> str:
        return f" {' '.join(map(str, self._opened().vocabulary.tokenizer.encode(text).token_ids))} "

    def _opened(self) -> EmbeddedReader:
        if self._reader is None:
            self._reader = self._load()
        return self._reader


def read_by(verifier: str, reader: str) -> bool:
    """Return whether a verifier with this name reads short answers with the reader of this fingerprint."""
    return f"{READING}{_digits(reader)}-" in verifier


def _digits(fingerprint: str) -> str:
    return fingerprint[:8]


def is_short_answer(pair: Pair) -> bool:
    """Return whether a claim is judged as an answer to its question rather than as a statement."""
    alone = len(pair.answer) < 2
    return bool(pair.question.strip()) and alone and is_short(pair.claim) and bool(content_words(pair.claim))


def logit(support: float) -> float:
    """Return the logit of a support in [0, 1], clipped to [1e-6, 1 - 1e-6]."""
    x = min(max(support, 1e-6), 1 - 1e-6)
    return math.log(x / (1 - x))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
