"""Evaluation of a scorer with known answers on pairs and responses with hand-counted figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from data.pairs import PairExample
from data.ragtruth import RagResponse
from evaluation.detection.scores import ScoredStatement, detection_table
from evaluation.detection.spans import MarkedText, span_scores
from evaluation.detection.support import ClaimSupport, Statement, SupportProgress, claim_supports
from evaluation.detection.verifier_scores import score_pairs, score_responses, worst_support
from model.pairs.scoring import Pair


class Book:
    """A scorer that looks up the support of a word of the claim if the window has "key", else 0.2.

    A token is a word.
    """

    name = "book"

    def __init__(self, book: dict[str, float], room: int = 8) -> None:
        self._book, self._room = book, room
        self.largest = 0
        self.asked: list[str] = []

    def room(self, claim: str, question: str = "") -> int:
        return self._room

    def count(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.largest = max(self.largest, len(pairs))
        self.asked.extend(pair.question for pair in pairs)
        assert all(len(pair.evidence.split()) <= self._room for pair in pairs)
        if progress is not None:
            progress(len(pairs), len(pairs))
        return tuple(self._one(pair) for pair in pairs)

    def _one(self, pair: Pair) -> float:
        if "key" not in pair.evidence:
            return 0.2
        return min((value for word, value in self._book.items() if word in pair.claim), default=0.9)


LONG = "One two three four five. Six seven eight nine ten. The key is here. Eleven twelve thirteen."


def test_the_best_window_counts_and_the_worst_claim() -> None:
    scorer = Book({"low": 0.4, "high": 0.7})
    found = claim_supports(scorer, [Statement(LONG, ("a high claim", "a low claim")), Statement("No.", ("high",))])
    (high, low), (none,) = found.claims
    assert (high.support, low.support, none.support) == (0.7, 0.4, 0.2)
    assert "key" in high.window
    assert worst_support((high, low)) == low
    assert sum(block.pairs for block in found.blocks) > 4


def test_a_claim_longer_than_is_read_is_read_in_parts_and_is_as_good_as_the_worst() -> None:
    """Otherwise the end of the claim would not be read, and a false statement there would pass."""
    long = "item " * 100 + "high " + "item " * 80 + "low " + "item " * 5
    scorer = Book({"low": 0.3, "high": 0.7})
    (found,) = claim_supports(scorer, [Statement(LONG, ("a high claim", long, "..."))]).claims
    assert [c.support for c in found] == [0.7, 0.3, None]
    (bad,) = claim_supports(Book({"low": float("nan"), "high": 0.0}), [Statement(LONG, (long,))]).claims
    assert bad[0].support is None and "not a number in [0, 1]" in bad[0].reason


def test_of_a_record_all_of_the_evidence_is_its_sentences() -> None:
    """The full evidence of a record is the rendered sentences, whether there are one or several windows."""
    seen: list[Pair] = []

    class Seeing(Book):
        def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
            seen.extend(pairs)
            return (0.5,) * len(pairs)

    record = '{"RestaurantsTakeOut": true, "OutdoorSeating": false, "WheelchairAccess": true}'
    for room in (8, 100):
        seen.clear()
        claim_supports(Seeing({}, room), [Statement(record, ("Take out",))])
        assert len(seen) > 1 + (room == 8)
        texts = {pair.full_evidence or pair.evidence for pair in seen}
        assert len(texts) == 1 and "take out" in texts.pop()


def test_long_evidence_takes_bounded_blocks_and_shows_progress() -> None:
    text = "word and word again here. " * 4_000 + "The key is at the very end."
    scorer = Book({}, room=10)
    seen: list[SupportProgress] = []
    found = claim_supports(scorer, [Statement(text, ("a claim", "another one"))], seen.append)
    assert [claim.support for claim in found.claims[0]] == [0.9, 0.9]
    assert scorer.largest <= 1024 < len(scorer.asked)
    assert len(seen) > 4
    assert [p.pairs for p in seen] == sorted(p.pairs for p in seen)
    assert (seen[-1].statements, seen[-1].total) == (1, 1)


def test_what_cannot_be_scored_says_why_and_is_never_a_number() -> None:
    bad = Book({"nan": float("nan"), "two": 2.0})
    statements = [
        Statement("key", ("", " - ", "fine")),
        Statement(" ", ("fine",)),
        Statement("key", ("nan", "two")),
        Statement("key", ()),
    ]
    first, second, third, fourth = claim_supports(bad, statements).claims
    assert [c.support for c in (*first, *second, *third)] == [None, None, 0.9, None, None, None]
    assert "no letter" in first[0].reason
    assert "evidence is empty" in second[0].reason
    assert "nan" in third[0].reason and "2.0" in third[1].reason
    assert fourth == ()
    assert claim_supports(bad, []).claims == ()


def test_a_response_with_an_unscored_sentence() -> None:
    unknown, low, high = ClaimSupport(None, reason="why"), ClaimSupport(0.3), ClaimSupport(0.8)
    assert worst_support((unknown, low, high)) == low
    assert worst_support((unknown, high)) == unknown
    assert "no claim" in worst_support(()).reason


def pair(claim: str, supported: bool, source: str = "s", evidence: str = "key") -> PairExample:
    return PairExample(evidence, claim, supported, "Why?", source, f"{source}:{claim}")


def test_pairs_by_hand() -> None:
    scorer = Book({"low": 0.4, "lower": 0.1, "high": 0.6})
    examples = [
        pair("one high", True),
        pair("one fine", True),
        pair("one low", True, "t"),
        pair("one lower", False),
        pair("two high", False, "t"),
        pair("?!", True),
    ]
    report = score_pairs(scorer, examples)
    scores = report.table.overall
    assert (scores.n, scores.hallucinated, scores.groups) == (5, 2, 5)
    assert scores.auroc.estimate == pytest.approx((2 + 1.5 + 1) / 6)  # 0.9, 0.6, 0.4 against 0.1, 0.6
    assert scores.balanced_accuracy.estimate == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert scores.f1_hallucinated.estimate == pytest.approx(2 / (2 + 1 + 1))
    assert report.table.unscored == (("the claim has no letter and no digit", 1),)
    assert [row.source for row in report.table.sources] == ["s", "t"]
    assert report.table.macro_auroc.estimate == pytest.approx((1.0 + 0.0) / 2)
    assert report.pairs == 5
    assert report.pairs_per_second.estimate is not None
    assert report.spans is None
    assert set(scorer.asked) == {"Why?"}


def response(text: str, *spans: tuple[int, int], source: str = "1", task: str = "QA") -> RagResponse:
    return RagResponse("id", source, task, "m", "The key is here.", "Who?", text, bool(spans), spans, "test")


def test_responses_by_hand() -> None:
    scorer = Book({"low": 0.3, "high": 0.8})
    texts = ["It is a high thing. It is a low thing.", "It is a high thing.", "I do not know.", "!!"]
    report = score_responses(
        scorer,
        [
            response(texts[0], (20, 38), source="1"),
            response(texts[1], (0, 5), source="2"),
            response(texts[2], source="3"),
            response(texts[3], source="4"),
        ],
    )
    scores = report.table.overall
    assert (scores.n, scores.hallucinated) == (3, 2)
    assert report.abstained == 1
    assert report.table.unscored == (("the response makes no claim", 1),)
    assert scores.auroc.estimate == 1.0  # 1.0 against 0.3 and 0.8
    assert scores.f1_hallucinated.estimate == pytest.approx(2 / 3)
    spans = report.spans
    assert spans is not None
    # The low sentence, 18 characters, is marked; people marked it and five characters elsewhere.
    assert spans.precision.estimate == 1.0
    assert spans.recall.estimate == pytest.approx(18 / 23)
    assert spans.f1.estimate == pytest.approx(36 / (18 + 23))
    assert spans.characters == 23
    assert report.word_spans is None


def test_weak_words_are_marked_on_request() -> None:
    text = "It is a low thing."
    seen: list[tuple[int, int]] = []
    report = score_responses(
        Book({"low": 0.3}),
        [response(text, (8, 11))],
        words=True,
        marking=lambda done, total: seen.append((done, total)),
    )
    assert report.word_spans is not None
    assert report.word_spans.f1.estimate == 1.0  # without "low" the support is 0.9
    assert seen == [(1, 1)]


def test_spans_overlap_and_nothing_marked() -> None:
    found = span_scores([MarkedText(10, ((0, 4), (2, 6)), ((4, 8),), "a"), MarkedText(5, (), (), "b")])
    assert (found.precision.estimate, found.recall.estimate) == (pytest.approx(2 / 6), pytest.approx(2 / 4))
    nothing = span_scores([MarkedText(5, (), (), "b")])
    assert (nothing.precision.estimate, nothing.recall.estimate, nothing.f1.estimate) == (None, None, None)
    assert span_scores([]).f1.reason


def test_one_class_only_is_undefined_with_a_reason() -> None:
    table = detection_table([ScoredStatement(0.9, True, str(n), "s") for n in range(12)])
    scores = table.overall
    for figure in (scores.auroc, scores.balanced_accuracy):
        assert figure.estimate is None
        assert "every statement is supported" in figure.reason
    assert "nothing was flagged" in scores.f1_hallucinated.reason
    assert scores.calibration_error.estimate == pytest.approx(0.1)
    assert table.macro_auroc.estimate is None
    assert "without s" in table.macro_auroc.reason


def test_nothing_scored_is_undefined() -> None:
    table = detection_table([ScoredStatement(None, True, "g", "s", "why")])
    assert table.overall.n == 0
    assert "no statement" in table.overall.calibration_error.reason
    assert table.unscored == (("why", 1),)


def test_the_table_is_seeded_and_groups_widen_it() -> None:
    judged = [
        ScoredStatement((n * 37 % 100) / 100, (n * 53 % 100) / 100 < (n * 37 % 100) / 100, str(n), "s")
        for n in range(120)
    ]
    one, same, other = (detection_table(judged, seed).overall.auroc for seed in (0, 0, 1))
    assert one == same
    assert one != other
    grouped = [
        ScoredStatement(j.support, j.supported, str(n % 12), "s") for n, j in enumerate(judged) for _ in range(3)
    ]
    thrice = [ScoredStatement(j.support, j.supported, f"{n}:{k}", "s") for n, j in enumerate(judged) for k in range(3)]
    narrow = detection_table(thrice).overall.balanced_accuracy
    honest = detection_table([j for j in judged for _ in range(3)]).overall.balanced_accuracy
    assert honest.estimate == narrow.estimate
    assert (honest.upper or 0) - (honest.lower or 0) > 1.4 * ((narrow.upper or 0) - (narrow.lower or 0))
    assert detection_table(grouped).overall.groups == 12


def test_a_claim_of_several_sentences_is_as_good_as_its_worst() -> None:
    scorer = Book({"low": 0.1, "high": 0.7}, room=50)
    examples = [
        PairExample("The key.", "It is a high tower. It has a low door.", False, group="a"),
        PairExample("The key.", "It is a high tower. It has a red door.", True, group="b"),
    ]
    report = score_pairs(scorer, examples)
    assert report.pairs == 4
    assert report.table.overall.auroc.estimate == 1.0
    assert report.table.overall.balanced_accuracy.estimate == 1.0


class Noting(Book):
    """A scorer that records the pairs."""

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> tuple[float, ...]:
        self.pairs = list(pairs)
        return super().score(pairs, progress)


def test_a_window_comes_with_all_of_its_evidence() -> None:
    scorer = Noting({"word": 0.9}, room=4)
    long, short = "The key is here. Nothing is there. The end.", "A key."
    claim_supports(scorer, [Statement(long, ("A word.",)), Statement(short, ("A word.",))])
    assert {(p.evidence == short, p.full_evidence) for p in scorer.pairs} == {(False, long), (True, "")}
