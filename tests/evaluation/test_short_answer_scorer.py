"""Short answers judged by reading: which claims are, what they get, and that all others are the other scorer's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.context_evidence import AnsweredQuestion, ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.layered_scorer import without_reader
from evaluation.verifiers.short_answer_scorer import ReadingUse, ShortAnswerScorer, is_short_answer, read_by
from evaluation.verifiers.verifier import VerificationItem
from generation.reader.reader import EmbeddedReader
from model.pairs.scoring import Pair

WORKS = "The Skellwick works opened in 1931. Its first director was Ada Thorne, who had built clocks in Leeds."
WHO, WHEN = "Who was the first director?", "When did the works open?"
USE = ReadingUse(0.9, 0.7, 0.1)


class Counting(TokenOverlapScorer):
    """Token overlap that notes what it is asked."""

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.seen.extend(pairs)
        return super().score(pairs, progress)


class Halves(Counting):
    """A number for names and another for all else."""

    def __init__(self, names: float = 0.2) -> None:
        super().__init__()
        self._names = names

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        super().score(pairs, progress)
        return tuple(self._names if pair.claim == "Ada Thorne" else 0.9 for pair in pairs)


@pytest.fixture(scope="module")
def reader() -> EmbeddedReader:
    """The shipped one."""
    return EmbeddedReader()


@pytest.fixture
def other() -> Counting:
    """What judges the rest."""
    return Counting()


@pytest.fixture
def scorer(reader: EmbeddedReader, other: Counting) -> ShortAnswerScorer:
    """Reading in front of it."""
    return ShortAnswerScorer(other, lambda: reader, "f1" * 32, USE)


def test_what_stands_in_the_passage_has_to_answer(scorer: ShortAnswerScorer, other: Counting) -> None:
    pairs = [
        Pair(WORKS, "Ada Thorne", WHO),
        Pair(WORKS, "1931", WHO),
        Pair(WORKS, "1931.", WHEN),
        Pair(WORKS, "Leeds", WHEN),
    ]
    right, wrong, year, town = scorer.score(pairs)
    assert right > 0.5 > wrong and year > 0.5 > town
    assert other.seen == []
    assert all(0 < s < 1 for s in (right, wrong, year, town))


def test_the_support_is_the_calibrated_log_of_the_expected_overlap(scorer: ShortAnswerScorer) -> None:
    claims = ["Ada Thorne", "Thorne", "clocks"]
    logs = scorer.log_expected(WHO, WORKS, claims)
    found = scorer.score([Pair(WORKS, claim, WHO) for claim in claims])
    assert found == pytest.approx([1 / (1 + math.exp(-0.9 * math.log(math.exp(x) + 0.1) - 0.7)) for x in logs])
    # Half of what it would say itself: 2 of 3 words of both together.
    assert logs[1] >= math.log(2 / 3) + logs[0] - 1e-6


def test_the_network_is_asked_beside_the_reader(reader: EmbeddedReader) -> None:
    """By the formula; where the reader cannot be asked, or another window has the answer, nothing changes."""
    other = Halves()
    scorer = ShortAnswerScorer(other, lambda: reader, "f1" * 32, ReadingUse(0.9, 0.7, 0.1, 0.6))
    claims = ["Ada Thorne", "clocks", "Leeds"]
    logs = scorer.log_expected(WHO, WORKS, claims)
    pairs = [Pair(WORKS, claim, WHO) for claim in claims]
    expected = [
        1 / (1 + math.exp(-0.9 * math.log(math.exp(x) + 0.1) - 0.6 * math.log(v / (1 - v)) - 0.7))
        for x, v in zip(logs, (0.2, 0.9, 0.9), strict=True)
    ]
    progress: list[tuple[int, int]] = []
    assert scorer.score(pairs, lambda done, total: progress.append((done, total))) == pytest.approx(expected)
    assert other.seen == pairs and progress == [(1, 3), (3, 3)]  # read, then asked of the other
    assert scorer.score([Pair("It opened.", "Ada Thorne", WHO, WORKS)]) == (0.0,)
    long, cut = Pair(WORKS, "clocks", "who " * 600), Pair(WORKS, "clocks", WHO, WORKS + " It burned in 1950.")
    mixed = [long, cut, cut, pairs[0], Pair("", "Ada Thorne", WHO)]
    assert scorer.score(mixed) == pytest.approx((0.9, expected[1], expected[1], expected[0], 0.2))
    assert other.seen[3:] == [long, cut, pairs[0], mixed[-1]]
    cached = CachedScorer(scorer)
    assert cached.score(mixed) == cached.score(mixed) == pytest.approx(scorer.score(mixed))
    assert scorer.name != ShortAnswerScorer(other, lambda: reader, "f1" * 32, USE).name


@pytest.mark.parametrize("sure", (0.0, 1.0))
def test_a_network_that_is_quite_sure_gives_a_finite_support(reader: EmbeddedReader, sure: float) -> None:
    other = Halves(sure)
    scorer = ShortAnswerScorer(other, lambda: reader, "f1" * 32, ReadingUse(0.9, 0.7, 0.1, 0.6))
    (support,) = scorer.score([Pair(WORKS, "Ada Thorne", WHO)])
    (log_expected,) = scorer.log_expected(WHO, WORKS, ["Ada Thorne"])
    most = math.log(1e6 - 1) * (1 if sure else -1)
    x = 0.9 * math.log(math.exp(log_expected) + 0.1) + 0.6 * most + 0.7
    assert support == pytest.approx(1 / (1 + math.exp(-x)), rel=1e-6)


@pytest.mark.parametrize(
    "pair",
    (
        Pair(WORKS, "Ada Thorne"),
        Pair(WORKS, "Ada Thorne", " "),
        Pair(WORKS, "Its first director was Ada Thorne, who had built clocks.", WHO),
        Pair(WORKS, "A. Thorne of Leeds", WHO),
        Pair("No ship sails.", "No.", "Does it sail?"),
        Pair(WORKS, "Ada Thorne", WHO, "", ("Ada Thorne", "It opened in 1931.")),
        Pair(WORKS, "Ada Thorne", "who " * 600),
        Pair("", "Ada Thorne", WHO),
    ),
)
def test_everything_else_is_the_other_scorers(scorer: ShortAnswerScorer, other: Counting, pair: Pair) -> None:
    assert scorer.score([pair]) == TokenOverlapScorer().score([pair])
    assert other.seen == [pair]


def test_a_window_without_the_answer_supports_nothing_where_another_has_it(scorer: ShortAnswerScorer) -> None:
    half = WORKS.split(". ")[0] + "."
    assert scorer.score([Pair(half, "Ada Thorne", WHO, WORKS)]) == (0.0,)


def test_pairs_are_scored_once_in_their_order_whatever_stands_beside(
    scorer: ShortAnswerScorer, other: Counting
) -> None:
    plain = Pair(WORKS, "The works opened in 1931 in Leeds, and nobody minded.", WHEN)
    pairs = [Pair(WORKS, "1931", WHEN), plain, Pair(WORKS, "Leeds", WHEN), Pair(WORKS, "1931", WHEN), plain]
    progress: list[tuple[int, int]] = []
    found = scorer.score(pairs, lambda done, total: progress.append((done, total)))
    assert found[0] == found[3] and found[1] == found[4] and other.seen == [plain]
    assert [scorer.score([pair])[0] for pair in pairs] == pytest.approx(found, abs=1e-6)
    assert progress[-1] == (5, 5) and progress == sorted(progress)
    assert scorer.score([]) == ()


def test_the_reader_is_opened_at_the_first_short_answer_only(reader: EmbeddedReader, other: Counting) -> None:
    opened: list[int] = []

    def load() -> EmbeddedReader:
        opened.append(1)
        return reader

    scorer = ShortAnswerScorer(other, load, "a", USE)
    scorer.score([Pair(WORKS, "Ada Thorne"), Pair(WORKS, "The works opened in 1931, before any other of them.", WHEN)])
    assert opened == []
    scorer.score([Pair(WORKS, "1931", WHEN), Pair(WORKS, "Leeds", WHEN)])
    assert opened == [1]


def test_its_name_tells_reader_calibration_and_the_other(reader: EmbeddedReader, other: Counting) -> None:
    names = {
        ShortAnswerScorer(other, lambda: reader, fingerprint, use).name
        for fingerprint in ("a", "b")
        for use in (USE, ReadingUse(0.8, 0.7, 0.1), ReadingUse(0.9, 0.6, 0.1), ReadingUse(0.9, 0.7, 0.2))
    }
    assert len(names) == 8 and all(name.startswith(f"{other.name}+reading:") and len(name) <= 120 for name in names)


def test_whose_reader_a_name_tells_of(reader: EmbeddedReader, other: Counting) -> None:
    mine, anothers = "ab" * 32, "ac" * 32
    name = f"routed/1 reference/1 | entailment/1 {ShortAnswerScorer(other, lambda: reader, mine, USE).name} >=0.5"
    assert read_by(name, mine) and not read_by(name, anothers)
    assert not read_by(f"entailment/1 {other.name} >=0.5", mine)


def test_a_calibration_that_is_none() -> None:
    wrong = ((0.0, 0.0, 0.1), (-1.0, 0.0, 0.1), (math.nan, 0.0, 0.1), (1.0, math.inf, 0.1), (1.0, 0.0, 0.0))
    for numbers in (*wrong, (1.0, 0.0, 0.1, -0.1), (1.0, 0.0, 0.1, math.nan)):
        with pytest.raises(EvaluationError, match="slope"):
            ReadingUse(*numbers)


def test_it_asks_as_the_other_does(scorer: ShortAnswerScorer, other: Counting) -> None:
    assert scorer.room("a b", "c") == other.room("a b", "c") and list(scorer.count(["a b"])) == list(
        other.count(["a b"])
    )
    assert scorer.answer_tokens == 0
    assert is_short_answer(Pair("", "34 metres", "How high?")) and not is_short_answer(Pair("", "yes", "Is it?"))


def test_the_other_is_to_be_had(scorer: ShortAnswerScorer, other: Counting) -> None:
    assert scorer.network is without_reader(scorer) is other and without_reader(other) is other
    assert without_reader(CachedScorer(scorer)).name == other.name
    plain = CachedScorer(other)
    assert without_reader(plain) is plain


def test_questions_that_the_documents_do_not_answer_are_not_read(scorer: ShortAnswerScorer, other: Counting) -> None:
    verifier = EntailmentVerifier(CachedScorer(scorer), ContextEvidence({"1": [WORKS], "2": [WORKS]}), join=False)
    items = [
        VerificationItem(AnsweredQuestion(number, WHO, answerable=number == "1"), (Claim("1931", 0, 4),), "1931")
        for number in ("2", "1", "2")
    ]
    separate, read, again = verifier.verify(items)
    # Word for word it stands there, which is all that the other looks at.
    assert separate == again and separate[0].support == 1.0 and read[0].support is not None and read[0].support < 0.5
    assert {pair.claim for pair in other.seen} == {"1931"} and read[0].verifier == separate[0].verifier
    before = len(other.seen)
    assert verifier.mark(items[1].question, items[1].claims) and len(other.seen) == before
