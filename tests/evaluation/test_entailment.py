"""The entailment verifier with a small real scorer: support, joined passages, weak words, and hostile input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from data.questions import Question
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim
from evaluation.verifiers.context_evidence import ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.entailment_scoring import CLAIM_TOKENS
from evaluation.verifiers.verifier import VerificationItem, failed
from model.errors import ModelError
from model.pairs.scoring import Pair
from tests.evaluation.entailment_helpers import DOCUMENTS, QUESTION, Given, Shelf, judge, sources


def test_a_claim_is_supported_from_the_threshold_on(overlap: Any) -> None:
    scorer = overlap()
    evidence = Given("The kiln is fired at dawn.")
    answer = "The kiln is fired at noon."  # five of six words
    at, above = (judge(EntailmentVerifier(scorer, evidence, t), answer)[0] for t in (5 / 6, 0.84))
    assert (at.label, above.label) == ("supported", "unverifiable")
    assert at.support == above.support == pytest.approx(5 / 6)
    assert at.verifier == "entailment/3 overlap/60 >=0.833333 given" != above.verifier


def test_every_claim_gets_its_own_verdict_with_the_sentence_that_bears_it(overlap: Any) -> None:
    answer = "The kiln cools for two days [1]. The mill grinds barley. The wheel was cut from larch."
    verdicts = judge(EntailmentVerifier(overlap(), sources(Shelf()), 0.8), answer)
    assert [v.label for v in verdicts] == ["supported", "unverifiable", "supported"]
    for v in verdicts:
        assert answer[v.claim.start : v.claim.end] == v.claim.text
        for e in v.evidence:
            assert e.document_id is not None
            assert DOCUMENTS[e.document_id].text[e.start : e.end] == e.text
    assert [v.evidence[0].text for v in verdicts] == [
        "It cools for two days.",
        "The mill grinds rye.",
        "Its wheel was cut from larch.",
    ]


def test_the_same_claims_get_the_same_verdicts_whatever_is_beside_them(overlap: Any) -> None:
    one = "The kiln is fired at dawn. It cools for nine days."
    items = []
    verifier = EntailmentVerifier(overlap(), sources(Shelf()))
    for text in (one, "The mill grinds rye.", one):
        items.append(VerificationItem(QUESTION, verifier.extract(QUESTION, text).claims, text))
    together = verifier.verify(items)
    assert together[0] == together[2] == verifier.verify(items[:1])[0]
    assert verifier.verify([]) == ()


def test_one_call_a_step_for_all_items(overlap: Any) -> None:
    scorer, shelf = overlap(), Shelf()
    verifier = EntailmentVerifier(scorer, sources(shelf))
    texts = ("The kiln is fired at dawn. It cools.", "The mill grinds rye.")
    verifier.verify([VerificationItem(QUESTION, verifier.extract(QUESTION, t).claims, t) for t in texts])
    assert len(scorer.calls) == 3  # windows, joined, sentences
    assert len(shelf.queries) == 3


def test_a_claim_that_needs_two_passages_is_borne_by_both_together(overlap: Any) -> None:
    answer = "The miller called Odo built the boat."
    joined, single = (
        judge(EntailmentVerifier(overlap(), sources(Shelf()), 0.9, join=join), answer)[0] for join in (True, False)
    )
    assert (joined.label, single.label) == ("supported", "unverifiable")
    assert {e.document_id for e in joined.evidence} == {"mill", "boat"}
    assert "two passages" in joined.reason
    assert joined.verifier != single.verifier


def test_windows_are_joined_only_where_they_fit_the_scorer(overlap: Any) -> None:
    scorer = overlap(26)
    judge(EntailmentVerifier(scorer, sources(Shelf()), 0.9), "The miller called Odo built the boat.")
    for pair in (p for call in scorer.calls for p in call):
        assert len(pair.evidence.split()) <= scorer.room(pair.claim, pair.question)


def test_an_empty_claim_is_unscored(overlap: Any) -> None:
    verifier = EntailmentVerifier(overlap(), sources(Shelf()))
    claims = (Claim("", 0, 0), Claim("[1] **", 0, 6), Claim("Odo", 6, 9))
    ((empty, marks, name),) = verifier.verify([VerificationItem(QUESTION, claims, "[1] **Odo")])
    assert [v.label for v in (empty, marks)] == ["unscored"] * 2
    assert "empty" in empty.reason
    assert name.support == 1.0


def test_a_long_claim_is_as_good_as_its_worst_part(overlap: Any) -> None:
    answer = "the kiln is fired at dawn and " * 22 + "so on it "  # 157 words: the first part ends within the next five
    verifier = EntailmentVerifier(overlap(2000), Given("The kiln is fired at dawn and so on it cools."), 0.9)
    good, bad = answer + "cools " * 8, answer + "cools " * 5 + "volcanoes erupt mildly"
    assert len(good.split()) == len(bad.split()) > CLAIM_TOKENS
    (one,), (two,) = judge(verifier, good), judge(verifier, bad)
    assert (one.label, one.support) == ("supported", 1.0)
    assert (two.label, two.support) == ("unverifiable", pytest.approx(2 / 5))  # of the last five words
    (marked,) = verifier.mark(QUESTION, (two.claim,))
    assert marked.weak == ()


@pytest.mark.parametrize(
    "claim", ["word " * 1000, "x" * 5000, "a\x00\x1b\u202e\ud800 kiln", "\U0001f600" * 300 + "1", "| | 7 |"]
)
def test_hostile_claims_are_scored(overlap: Any, claim: str) -> None:
    scorer = overlap()
    verifier = EntailmentVerifier(scorer, sources(Shelf()))
    ((verdict,),) = verifier.verify([VerificationItem(QUESTION, (Claim(claim, 0, len(claim)),), claim)])
    assert verdict.label in ("supported", "unverifiable")
    for pair in (p for call in scorer.calls for p in call):
        assert not any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in pair.claim)
        assert len(pair.claim.split()) <= CLAIM_TOKENS


def test_evidence_of_a_hundred_thousand_tokens(overlap: Any) -> None:
    filler = "Nothing of note was seen on that day. "
    text = filler * 6000 + "The kiln is fired at dawn. " + filler * 6000
    scorer = overlap()
    verifier = EntailmentVerifier(scorer, Given(text), join=False)
    (verdict,) = judge(verifier, "The kiln is fired at dawn.")
    assert verdict.support == 1.0
    assert verdict.evidence[0].text == "The kiln is fired at dawn."
    assert text[verdict.evidence[0].start : verdict.evidence[0].end] == verdict.evidence[0].text
    assert len(scorer.calls[0]) < 12_001


def test_a_question_that_leaves_no_room_is_not_read(overlap: Any) -> None:
    scorer = overlap(100)
    long = Question("long", "kiln " * 90)
    (verdict,) = judge(EntailmentVerifier(scorer, Given(*(d.text for d in DOCUMENTS.values()))), "It cools.", long)
    assert {p.question for p in scorer.calls[0]} == {""}
    assert verdict.support == 1.0


def test_what_the_scorer_raises_passes_through(overlap: Any) -> None:
    class Broken(overlap):  # type: ignore[misc]
        def score(self, pairs: Sequence[Pair], progress: object = None) -> tuple[float, ...]:
            raise ModelError("the device has gone")

    with pytest.raises(ModelError, match="has gone"):
        judge(EntailmentVerifier(Broken(), sources(Shelf())), "The kiln is fired.")


@pytest.mark.parametrize("threshold", [0.0, -0.5, 1.01, float("nan")])
def test_impossible_thresholds_are_refused(overlap: Any, threshold: float) -> None:
    with pytest.raises(EvaluationError, match="threshold"):
        EntailmentVerifier(overlap(), Given(""), threshold)


def test_a_name_too_long_to_store_is_refused(overlap: Any) -> None:
    class Verbose(overlap):  # type: ignore[misc]
        name = "v" * 250

    with pytest.raises(EvaluationError, match="255"):
        EntailmentVerifier(Verbose(), Given(""))


def test_weak_words_are_those_that_the_evidence_lacks(overlap: Any) -> None:
    answer = "I looked. The kiln is fired at noon [1] by 12 bakers."
    verifier = EntailmentVerifier(overlap(), sources(Shelf()), 0.9)
    claims = verifier.extract(QUESTION, answer).claims
    marked = verifier.mark(QUESTION, claims)
    assert [m.claim for m in marked] == list(claims)
    weak = [answer[w.start : w.end] for w in marked[-1].weak]
    assert sorted(weak) == ["12", "bakers", "noon"]
    assert all(0.05 < w.gain <= 1 for w in marked[-1].weak)


def test_what_is_supported_or_has_no_evidence_has_no_weak_words(overlap: Any) -> None:
    scorer = overlap()
    verifier = EntailmentVerifier(scorer, sources(Shelf()), 0.5)
    answer = "The kiln is fired at dawn."
    (marked,) = verifier.mark(QUESTION, verifier.extract(QUESTION, answer).claims)
    assert marked.weak == ()
    nothing = EntailmentVerifier(scorer, sources(Shelf(())))
    assert nothing.mark(QUESTION, (Claim("Odo left", 0, 8), Claim("", 0, 0)))[0].weak == ()
    assert verifier.mark(QUESTION, ()) == ()


def test_at_most_24_words_are_left_out_and_the_telling_ones_first(overlap: Any) -> None:
    scorer = overlap(300)
    verifier = EntailmentVerifier(scorer, Given("The kiln cools."), 0.9)
    answer = " ".join(f"thing{chr(97 + i)}" for i in range(26)) + " met Odo in 1874."
    verifier.mark(QUESTION, verifier.extract(QUESTION, answer).claims)
    tried = [p.claim for p in scorer.calls[-1]]
    assert len(tried) == 24
    assert any("Odo" not in t for t in tried) and any("1874" not in t for t in tried)


def test_a_claim_of_one_word_has_nothing_to_leave_out(overlap: Any) -> None:
    verifier = EntailmentVerifier(overlap(), Given("The kiln cools."), 0.9)
    (marked,) = verifier.mark(QUESTION, (Claim("Volcano", 3, 10),))
    assert marked.weak == ()


def test_a_score_that_is_no_number_costs_its_claim_only() -> None:
    class Sometimes(TokenOverlapScorer):
        def score(self, pairs: Sequence[Pair], progress: object = None) -> tuple[float, ...]:
            scores = super().score(pairs)
            return tuple(math.nan if "purple" in p.claim else s for p, s in zip(pairs, scores, strict=True))

    text = "The mast is oak. The mast is purple."
    verifier = EntailmentVerifier(Sometimes(), ContextEvidence({"q": ("The mast is oak.",)}))
    question = Question("q", "What is it?")
    claims = verifier.extract(question, text).claims
    (found,) = verifier.verify([VerificationItem(question, claims, text)])
    assert [(v.label, v.support) for v in found] == [("supported", 1.0), ("unscored", None)]
    assert failed(found[1]) and "no number" in found[1].reason and not failed(found[0])
