"""Support of short answers by reading: how likely a reader is to answer the question so, and what the network says.

An answer of a few words that stands in a passage says little by itself to a network that compares texts. The embedded
reader was trained for just that question, so it is asked: the claim is compared with what it believes the answer to be.
The network is asked beside it: the two err on different answers, and a reader that is asked alone passes what it is
surely wrong about (docs/verifiers.md).
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
from evaluation.verifiers.layered_scorer import ScorerInFront
from generation.errors import GenerationError
from generation.reader.answer_likelihood import MAX_TOKENS, Belief, belief
from generation.reader.reader import EmbeddedReader
from model.pairs.scoring import Pair, PairScorer
from model.verifier.answer_context import is_short
from model.verifier.content_words import content_words
from retrieval.chunking.chunker import chunk_spans
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from retrieval.chunking.params import ChunkingParams

RULES = 5
"""Version of what is read and how, and of which questions are left to the network: part of the scorer's name."""
READING = "+reading:"
"""Stands in the name of a scorer that reads short answers, before the reader's first digits."""
_SMALL = frozenset(("a", "an", "the"))
_KEPT = 64  # texts as token ids, whole evidence among them


@dataclass(frozen=True, slots=True)
class ReadingUse:
    """support = sigmoid(slope * log(E + floor) + network * logit(V) + intercept), where V is the other scorer's support
    and E the token F1 with the claim that is expected of the reader's answer: P(claim) + P(own) F1(own, claim), from
    the two answers that are looked at (a lower bound).

    floor: below it E tells nothing: a right answer in other words than the reader's is as unlikely as a wrong one.
    network: 0: the other scorer is not asked.
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
        """Of a claim's log E and the other scorer's support of it; NaN stays NaN."""
        read = self.slope * math.log(math.exp(log_expected) + self.floor)
        return _sigmoid(read + self.network * logit(other) + self.intercept)


class ShortAnswerScorer(ScorerInFront):
    """A PairScorer in front of another one. Short answers that stand in their evidence are read, and the other has the
    share of ``ReadingUse.network`` in what they get; it scores all else.

    A short answer has a question, at most 8 words of which some say something, and is not read together with other
    claims. It is looked for in the window; in a window without it, where another one has it, its support is 0. Where it
    stands nowhere the other scorer judges: it may be said in other words.
    """

    def __init__(
        self, scorer: PairScorer, load: Callable[[], EmbeddedReader], fingerprint: str, use: ReadingUse
    ) -> None:
        """load: of the reader, at the first short answer. fingerprint: of it."""
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
        """Support of each pair (see ``PairScorer.score``). Raises ModelError as the other does."""
        unique = list(dict.fromkeys(pairs))
        found: dict[Pair, float] = {}
        reading: dict[tuple[str, str], list[Pair]] = defaultdict(list)
        for pair in unique:
            if not is_short_answer(pair):
                continue
            if self._stands(pair.claim, pair.evidence):
                reading[pair.question, pair.evidence].append(pair)
            elif pair.whole and self._stands(pair.claim, pair.whole):
                found[pair] = 0.0

        to_read = sum(map(len, reading.values()))
        steps = len(unique) + (to_read if self._use.network else 0)  # those are looked at twice

        def told(done: int) -> None:
            if progress is not None and unique:
                progress(len(pairs) * done // steps, len(pairs))

        read: dict[Pair, float] = {}
        for (question, evidence), mine in reading.items():
            logs = self.log_expected(question, evidence, [pair.claim for pair in mine])
            read.update((pair, x) for pair, x in zip(mine, logs, strict=True) if not math.isnan(x))
            told(len(found) + len(read))
        asked = [p for p in unique if p not in found and (p not in read or self._use.network)]
        before = steps - len(asked)
        if asked:
            scores = self._scorer.score(asked, lambda done, _: told(before + done))
            found.update(zip(asked, scores, strict=True))
        found.update((pair, self._use.support(x, found.get(pair, 0.5))) for pair, x in read.items())
        return tuple(found[pair] for pair in pairs)

    def reads(self, pair: Pair) -> bool:
        """Whether the reader is asked about a pair, or another window has its claim: else the other judges alone."""
        return is_short_answer(pair) and any(
            self._stands(pair.claim, text) for text in (pair.evidence, pair.whole) if text
        )

    def log_expected(self, question: str, evidence: str, claims: Sequence[str]) -> list[float]:
        """log E of each claim (see ReadingUse): what is calibrated. NaN where question and claim leave no room."""
        tokens = [self._claim_tokens(claim) for claim in claims]
        asked = [ids for ids in tokens if ids]
        reader = self._opened()
        try:
            prompt = reader.prompt(question, self._chunks(evidence), MAX_TOKENS)
        except GenerationError:
            return [math.nan] * len(claims)
        known = belief(reader, prompt, asked)
        logprobs = iter(known.logprobs)
        return [self._expected(ids, next(logprobs), known) if ids else math.nan for ids in tokens]

    def _expected(self, claim: tuple[int, ...], logprob: float, known: Belief) -> float:
        if known.own_logprob is None or known.own == claim:
            return logprob
        share = token_f1(self._words(known.own), self._words(claim))
        if not share:
            return logprob
        other = math.log(share) + known.own_logprob
        high, low = max(logprob, other), min(logprob, other)
        return high + math.log1p(math.exp(low - high))

    def _words(self, ids: Sequence[int]) -> list[str]:
        """The word pieces that count: no punctuation, no articles, as in SQuAD's F1."""
        tokenizer = self._opened().vocabulary.tokenizer
        pieces = [tokenizer.token(token) for token in ids]
        return [piece for piece in pieces if piece not in _SMALL and any(c.isalnum() for c in piece)]

    def _chunks(self, evidence: str) -> list[RetrievedChunk]:
        """The window cut as the reader was trained on passages."""
        spans = chunk_spans(evidence, self._reader_count, ChunkingParams())
        cut = [Chunk("evidence", span.start, span.end, evidence[span.start : span.end], "") for span in spans]
        return [RetrievedChunk(chunk, 0.0, rank) for rank, chunk in enumerate(cut, start=1)]

    def _reader_count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(e.token_ids) for e in self._opened().vocabulary.tokenizer.encode_many(texts)]

    def _stands(self, claim: str, evidence: str) -> bool:
        ids = self._claim_tokens(claim)
        return bool(ids) and f" {' '.join(map(str, ids))} " in self._ids(evidence)

    def _claim_tokens(self, claim: str) -> tuple[int, ...]:
        """Without the full stop; empty where there are too many to ask about."""
        ids = self._opened().vocabulary.tokenizer.encode(claim.strip(" \n\t.\"'")).token_ids
        return ids if len(ids) < MAX_TOKENS else ()

    def _encoded(self, text: str) -> str:
        return f" {' '.join(map(str, self._opened().vocabulary.tokenizer.encode(text).token_ids))} "

    def _opened(self) -> EmbeddedReader:
        if self._reader is None:
            self._reader = self._load()
        return self._reader


def read_by(verifier: str, reader: str) -> bool:
    """Whether a verifier of this name reads short answers with the reader of this fingerprint."""
    return f"{READING}{_digits(reader)}-" in verifier


def _digits(fingerprint: str) -> str:
    return fingerprint[:8]


def is_short_answer(pair: Pair) -> bool:
    """Whether a claim is judged as what answers its question rather than as a statement."""
    alone = len(pair.answer) < 2
    return bool(pair.question.strip()) and alone and is_short(pair.claim) and bool(content_words(pair.claim))


def logit(support: float) -> float:
    """Of a support in [0, 1], kept finite: beyond 1e-6 of either end nothing more is told."""
    x = min(max(support, 1e-6), 1 - 1e-6)
    return math.log(x / (1 - x))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
