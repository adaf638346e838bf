"""Generate a question set: draw candidates of each kind evenly over the documents, and check them."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from evaluation.question_sets.duplicates import AcceptedQuestions
from evaluation.question_sets.journal import Journal
from evaluation.question_sets.quotas import KindShares, quotas
from generation.question_sets.candidate import KINDS, Candidate, QuestionKind, SourceText
from generation.question_sets.near_miss import NearMisses
from generation.question_sets.paraphrase import paraphrase
from generation.question_sets.standalone import is_standalone, with_title
from generation.question_sets.two_passages import bridge_questions, pair_questions
from generation.synthetic_questions.recurring import stems
from retrieval.encoding.encoder import Encoder

DUPLICATE: Final = "it duplicates another question"
NOT_ALONE: Final = "it is unclear without its document, which has no title to add"
# The rarest kinds come first, because only one question uses each answer.
_ORDER: Final[tuple[QuestionKind, ...]] = ("list", "two_passage", "number", "paraphrase", "one_fact")
TITLED: Final = "its document's title, without which it is unclear, reveals the answer"
_BATCH: Final = 16
_MISSES_TRIED: Final = 4  # number of near misses to try per candidate
_PAIRS_OF: Final = 6  # number of pairs to try per document


class Check(Protocol):
    """Interface of a filter of candidates."""

    def refusals(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        """Return the reason for rejection of each candidate; "" for a candidate that is kept."""
        ...


@dataclass(frozen=True, slots=True)
class QuestionSetSettings:
    """Settings of a question set. n: number of questions. seed: seed of all draws. shares: weights of the kinds."""

    n: int = 200
    seed: int = 0
    shares: KindShares = field(default_factory=KindShares)


@dataclass(frozen=True, slots=True)
class GeneratedSet:
    """A generated question set.

    kept: the questions, in the order of their documents.
    made: number of generated candidates by kind.
    refused: number of rejected candidates by reason.
    wanted: planned number of questions by kind. If a kind has too few candidates, other kinds replace them. If there
        are too few near misses, the set is smaller so that their share stays the same (unless there are none).
    documents: number of documents.
    without: number of documents without a candidate.
    """

    kept: tuple[Candidate, ...]
    made: Mapping[QuestionKind, int]
    refused: Mapping[str, int]
    wanted: Mapping[QuestionKind, int]
    documents: int
    without: int


def make_set(
    sources: Sequence[SourceText],
    base: Iterable[tuple[str, Sequence[Candidate]]],
    check: Check,
    encoder: Encoder,
    settings: QuestionSetSettings,
    journal: Journal,
    refused: Counter[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GeneratedSet:
    """Draw a question set. Equal arguments give equal sets.

    base: candidates about single sentences, by document ID.
    refused: counts of candidates that were already rejected, by reason. They are updated.
    progress: called with (kept, wanted) numbers of questions.
    """
    selection = _Selection(sources, check, encoder, settings, journal, Counter() if refused is None else refused)
    selection.offer(base)
    return selection.draw(progress)


class _Selection:
    """State of the draw of one question set."""

    def __init__(
        self,
        sources: Sequence[SourceText],
        check: Check,
        encoder: Encoder,
        settings: QuestionSetSettings,
        journal: Journal,
        refused: Counter[str],
    ) -> None:
        self._sources = {source.document_id: source for source in sources}
        self._check, self._settings, self._journal = check, settings, journal
        # A near miss is similar to its source question by design, so answerable and
        # unanswerable questions are compared separately.
        self._embedded = {True: AcceptedQuestions(encoder), False: AcceptedQuestions(encoder)}
        self._rng = random.Random(f"question set:{settings.seed}")
        self._pools: dict[QuestionKind, dict[str, list[Candidate]]] = {kind: defaultdict(list) for kind in KINDS}
        self._made: Counter[str] = Counter()
        self._refused = refused
        self._kept: list[Candidate] = []
        self._of_document: Counter[str] = Counter()
        self._answers: set[tuple[str, int, str]] = set()
        self._without = 0

    def offer(self, base: Iterable[tuple[str, Sequence[Candidate]]]) -> None:
        """Fill the pools of every kind from candidates about single sentences."""
        by_document = {document: list(candidates) for document, candidates in base}
        self._without = sum(not candidates for candidates in by_document.values())
        everything = [c for candidates in by_document.values() for c in candidates]
        misses = NearMisses(self._sources.values())
        for candidate in everything:
            self._add(candidate)
            tries = (misses.derive(candidate, self._rng) for _ in range(_MISSES_TRIED))
            missed = next((m for m in tries if m is not None), None)
            if missed is not None:
                self._add(missed)
            other = paraphrase(candidate, self._evidence(candidate))
            if other is not None:
                self._add(other)
        for joined in bridge_questions(everything):
            self._add(joined)
        for candidates in by_document.values():
            for joined in self._pairs(candidates):
                self._add(joined)
        for pool in self._pools.values():
            for candidates in pool.values():
                self._rng.shuffle(candidates)

    def draw(self, progress: Callable[[int, int], None] | None) -> GeneratedSet:
        """Keep the planned number of questions of each kind, or all if there are fewer."""
        shares = self._settings.shares.weights
        wanted = quotas(self._settings.n, shares)
        count: Counter[str] = Counter()
        self._fill("unanswerable", wanted["unanswerable"], count, progress)
        part = shares["unanswerable"] / sum(shares.values())
        most = self._settings.n
        if count["unanswerable"] and part > 0:  # keep their share, even if there are few
            most = min(most, int(count["unanswerable"] / part + 1e-9))
        for kind in _ORDER:
            self._fill(kind, min(wanted[kind], most - len(self._kept) + count[kind]), count, progress)
        for kind in ("one_fact", "number", "paraphrase", "list", "two_passage"):
            self._fill(kind, most - len(self._kept) + count[kind], count, progress)
        self._kept.sort(key=lambda c: (c.places[0].document_id, c.places[0].start, c.text))
        generated = {kind: self._made[kind] for kind in KINDS}
        refused = dict(self._refused.most_common())
        return GeneratedSet(tuple(self._kept), generated, refused, wanted, len(self._sources), self._without)

    def _add(self, candidate: Candidate) -> None:
        self._made[candidate.kind] += 1
        span = candidate.places[0]
        self._pools[candidate.kind][span.document_id].append(candidate)

    def _pairs(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        short = [c for c in candidates if len(c.text.split()) < 14 and c.answer_kind != "phrase"]
        for _ in range(_PAIRS_OF if len(short) > 1 else 0):
            first, second = self._rng.sample(short, 2)
            joined = pair_questions(first, second)
            if joined is not None:
                yield joined

    def _fill(
        self, kind: QuestionKind, target: int, count: Counter[str], progress: Callable[[int, int], None] | None
    ) -> None:
        pool = self._pools[kind]
        while count[kind] < target:
            batch = self._next(pool, min(_BATCH, target - count[kind] + 4))
            if not batch:
                return
            for candidate in self._accepted(batch):
                if count[kind] == target:
                    self._pools[kind][candidate.places[0].document_id].append(candidate)
                    continue
                if self._keep(candidate):
                    count[kind] += 1
            if progress is not None:
                progress(len(self._kept), self._settings.n)

    def _next(self, pool: dict[str, list[Candidate]], most: int) -> list[Candidate]:
        """Return at most ``most`` candidates, from the documents with the fewest questions first."""
        batch: list[Candidate] = []
        taken: Counter[str] = Counter()
        while len(batch) < most:
            open_documents = [document for document, candidates in pool.items() if candidates]
            if not open_documents:
                break
            fewest = min(self._of_document[d] + taken[d] for d in open_documents)
            document = self._rng.choice([d for d in open_documents if self._of_document[d] + taken[d] == fewest])
            taken[document] += 1
            alone = self._alone(pool[document].pop())
            if alone is not None:
                batch.append(alone)
        return batch

    def _alone(self, candidate: Candidate) -> Candidate | None:
        source = self._sources[candidate.places[0].document_id]
        if self._used(candidate):
            return None
        text = with_title(candidate.text, source.title)
        if text is None or not is_standalone(text):
            self._refused[NOT_ALONE] += 1
            return None
        if text != candidate.text and any(
            stems(ref) and stems(ref) <= stems(source.title) for ref in candidate.references
        ):
            self._refused[TITLED] += 1
            return None
        return replace(candidate, text=text)

    def _accepted(self, batch: Sequence[Candidate]) -> list[Candidate]:
        unknown = [c for c in batch if self._journal.get(_key(c)) is None]
        for candidate, reason in zip(unknown, self._check.refusals(unknown) if unknown else (), strict=True):
            self._journal.put(_key(candidate), reason)
        reasons = [str(self._journal.get(_key(c))) for c in batch]
        self._refused.update(reason for reason in reasons if reason)
        return [c for c, reason in zip(batch, reasons, strict=True) if not reason]

    def _keep(self, candidate: Candidate) -> bool:
        if self._used(candidate):  # by another candidate of the same batch
            return False
        embedded = self._embedded[candidate.answerable]
        vector = embedded.vectors([candidate.text])[0]
        if embedded.nearest(vector) is not None:
            self._refused[DUPLICATE] += 1
            return False
        embedded.add(candidate.text, vector)
        self._kept.append(candidate)
        self._of_document[candidate.places[0].document_id] += 1
        self._answers.update(_answers(candidate))
        return True

    def _used(self, candidate: Candidate) -> bool:
        """Return whether another question of the set has the same answer."""
        return any(span in self._answers for span in _answers(candidate))

    def _evidence(self, candidate: Candidate) -> str:
        span = candidate.places[0]
        return self._sources[span.document_id].text[span.sentence_start : span.sentence_end]


def _answers(candidate: Candidate) -> list[tuple[str, int, str]]:
    """Return keys for the answers of a question. Pairs and near misses may repeat answers of other questions."""
    group = candidate.answer_kind if candidate.answer_kind == "pair" else str(candidate.answerable)
    return [(span.document_id, span.start, group) for span in candidate.places]


def _key(candidate: Candidate) -> str:
    return f"check {candidate.kind} {candidate.places[0].document_id} {candidate.text} {'|'.join(candidate.references)}"
