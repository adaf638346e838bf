"""The entailment verifier with a small real scorer: support, evidence, sources, routes, and hostile input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from data.documents import Document
from data.questions import EvidenceSpan, Question
from evaluation.detection.baselines import TokenOverlapScorer
from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim, Verdict
from evaluation.verifiers.context_evidence import ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.entailment_scoring import CLAIM_TOKENS
from evaluation.verifiers.evidence import (
    ClaimRequest,
    EvidenceText,
    GoldElseSearched,
    GoldEvidence,
    SearchedEvidence,
    query_of,
)
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.routing import RoutedVerifier, has_references, judged_by_entailment
from evaluation.verifiers.verifier import VerificationItem, failed
from model.errors import ModelError
from model.pair_scoring import Pair
from retrieval.chunking import ChunkingParams, chunk_document
from retrieval.chunks import Chunk, RetrievedChunk

DOCUMENTS = {
    d.id: d
    for d in (
        Document("kiln", "Kiln", "The kiln is fired at dawn. It cools for two days. Nobody opens it early."),
        Document("mill", "Mill", "The mill grinds rye. Its wheel was cut from larch. The miller is called Odo."),
        Document("boat", "Boat", "The boat was built by Odo. It carries nine sheep."),
    )
}
QUESTION = Question("q", "What happens at the kiln?")


def words(texts: Sequence[str]) -> list[int]:
    return [len(t.split()) for t in texts]


class Shelf:
    """All documents in chunks of two sentences; finds those that share the most words with the query."""

    def __init__(self, documents: Sequence[Document] = tuple(DOCUMENTS.values())) -> None:
        self.chunks = [c for d in documents for c in chunk_document(d, words, ChunkingParams(12))]
        self.queries: list[str] = []

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(c for c in self.chunks if c.document_id == document_id)

    def retrieve_many(self, queries: Sequence[str], k: int) -> tuple[tuple[RetrievedChunk, ...], ...]:
        self.queries.extend(queries)
        return tuple(self._retrieve(q, k) for q in queries)

    def _retrieve(self, query: str, k: int) -> tuple[RetrievedChunk, ...]:
        asked = set(query.casefold().replace(".", "").replace("?", "").split())

        def shared(c: Chunk) -> int:
            return len(asked & set(c.text.casefold().replace(".", "").split()))

        ranked = sorted(self.chunks, key=lambda c: -shared(c))[:k]
        return tuple(RetrievedChunk(c, float(shared(c)), r) for r, c in enumerate(ranked, 1) if shared(c))


class Given:
    """The same evidence for every claim."""

    name = "given"

    def __init__(self, *texts: str) -> None:
        self.texts = tuple(EvidenceText(f"d{i}", t, 0) for i, t in enumerate(texts))

    def evidence_for(self, requests: Sequence[ClaimRequest]) -> tuple[tuple[EvidenceText, ...], ...]:
        return tuple(self.texts for _ in requests)


def sources(shelf: Shelf, k: int = 3) -> GoldElseSearched:
    return GoldElseSearched(GoldEvidence(shelf, shelf, k), SearchedEvidence(shelf, "f" * 64, k))


def judge(verifier: Any, answer: str, question: Question = QUESTION) -> tuple[Verdict, ...]:
    claims = verifier.extract(question, answer).claims
    (verdicts,) = verifier.verify([VerificationItem(question, claims, answer)])
    return tuple(verdicts)


def test_a_claim_is_supported_from_the_threshold_on(overlap: Any) -> None:
    scorer = overlap()
    evidence = Given("The kiln is fired at dawn.")
    answer = "The kiln is fired at noon."  # five of six words
    at, above = (judge(EntailmentVerifier(scorer, evidence, t), answer)[0] for t in (5 / 6, 0.84))
    assert (at.label, above.label) == ("supported", "unverifiable")
    assert at.support == above.support == pytest.approx(5 / 6)
    assert at.verifier == "entailment/1 overlap/60 >=0.833333 given" != above.verifier


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


def test_the_title_is_read_before_the_passage_but_is_no_evidence(overlap: Any) -> None:
    scorer = overlap()
    (verdict,) = judge(EntailmentVerifier(scorer, sources(Shelf())), "Boat: nine sheep.")
    premise = "Boat. The boat was built by Odo. It carries nine sheep."
    assert Pair(premise, "Boat: nine sheep.", QUESTION.text) in scorer.calls[0]
    assert [e.text for e in verdict.evidence] == ["It carries nine sheep."]


def test_nothing_found_is_unverifiable_and_says_so(overlap: Any) -> None:
    (verdict,) = judge(EntailmentVerifier(overlap(), sources(Shelf(()))), "The kiln is fired at dawn.")
    assert (verdict.label, verdict.support, verdict.evidence) == ("unverifiable", 0.0, ())
    assert "holds no evidence" in verdict.reason


def test_an_empty_claim_is_unscored(overlap: Any) -> None:
    verifier = EntailmentVerifier(overlap(), sources(Shelf()))
    claims = (Claim("", 0, 0), Claim("[1] **", 0, 6), Claim("Odo", 6, 9))
    ((empty, marks, name),) = verifier.verify([VerificationItem(QUESTION, claims, "[1] **Odo")])
    assert [v.label for v in (empty, marks)] == ["unscored"] * 2
    assert "empty" in empty.reason
    assert name.support == 1.0


def test_a_long_claim_is_as_good_as_its_worst_part(overlap: Any) -> None:
    said = "the kiln is fired at dawn and " * 22 + "so on it "  # 157 words: the first part ends within the next five
    verifier = EntailmentVerifier(overlap(2000), Given("The kiln is fired at dawn and so on it cools."), 0.9)
    good, bad = said + "cools " * 8, said + "cools " * 5 + "volcanoes erupt mildly"
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

    with pytest.raises(EvaluationError, match="longer than 255"):
        EntailmentVerifier(Verbose(), Given(""))


def test_evidence_spans_come_before_the_search() -> None:
    shelf = Shelf()
    span = EvidenceSpan("mill", 21, 45)
    gold = Question("g", "What of the kiln?", evidence=(span,))
    bare = Question("b", "What of the kiln?")
    lost = Question("l", "What of the kiln?", relevant_document_ids=("nowhere",))
    found = sources(shelf).evidence_for([ClaimRequest(q, "It is fired at dawn.") for q in (gold, bare, lost)])
    assert {e.document_id for e in found[0]} == {"mill"}
    assert found[1][0].document_id == found[2][0].document_id == "kiln"
    for e in (e for texts in found for e in texts):
        assert DOCUMENTS[e.document_id].text[e.start : e.start + len(e.text)] == e.text


def test_relevant_documents_are_ranked_by_question_and_claim() -> None:
    shelf = Shelf()
    question = Question("r", "What of it?", relevant_document_ids=("mill", "boat"))
    source = GoldEvidence(shelf, shelf, 1)
    (sheep,), (larch,) = source.evidence_for(
        [ClaimRequest(question, "It carries nine sheep."), ClaimRequest(question, "Its wheel was cut from larch.")]
    )
    assert (sheep.document_id, larch.document_id) == ("boat", "mill")
    assert shelf.queries[0] == "What of it? It carries nine sheep."
    assert query_of(ClaimRequest(Question("x", "y" * 5000), "z" * 5000)) == "y" * 1000 + " " + "z" * 1000


def test_a_search_for_no_chunks_is_refused() -> None:
    with pytest.raises(EvaluationError, match="k is 0"):
        SearchedEvidence(Shelf(), "f", 0)


REFERENCED = Question("ref", "When is the kiln fired?", ("at dawn",))
UNANSWERABLE = Question("un", "Who owns the kiln?", answerable=False)


def test_the_route_depends_on_the_question_only(overlap: Any) -> None:
    entailment = EntailmentVerifier(overlap(), sources(Shelf()))
    routed = RoutedVerifier(ReferenceVerifier(), entailment)
    answer = "The kiln is fired at dawn. It cools for two days."
    questions = (REFERENCED, QUESTION, UNANSWERABLE, QUESTION)
    items = [VerificationItem(q, routed.extract(q, answer).claims, answer) for q in questions]
    assert [len(i.claims) for i in items] == [1, 2, 1, 2]
    found = routed.verify(items)
    assert [[v.claim for v in verdicts] for verdicts in found] == [list(i.claims) for i in items]
    assert {v.verifier for verdicts in found for v in verdicts} == {routed.name}
    assert found[0][0].evidence[0].document_id is None
    assert found[2][0].label == "unverifiable"
    assert [v.label for v in found[1]] == ["supported", "supported"]
    assert found[1] == found[3]
    assert ReferenceVerifier().name in routed.name and entailment.name in routed.name


def test_stored_names_tell_the_route(overlap: Any) -> None:
    entailment = EntailmentVerifier(overlap(), sources(Shelf()))
    routed = RoutedVerifier(ReferenceVerifier(), entailment)
    table = {
        v.name: [judged_by_entailment(v.name, q) for q in (REFERENCED, QUESTION, UNANSWERABLE)]
        for v in (ReferenceVerifier(), entailment, routed)
    }
    assert list(table.values()) == [[False] * 3, [True] * 3, [False, True, False]]
    assert [has_references(q) for q in (REFERENCED, QUESTION, UNANSWERABLE)] == [True, False, True]


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


def test_a_record_is_read_as_sentences_and_evidence_is_the_field(overlap: Any) -> None:
    record = '{"name": "The mill", "hours": {"Monday": "8:0-17:30", "Sunday": "9:0-12:0"}, "grinds": "rye"}'
    scorer = overlap()
    (verdict,) = judge(EntailmentVerifier(scorer, Given(record), 0.5), "The hours on Sunday: 9:00 to 12:00.")
    assert verdict.label == "supported"
    (evidence,) = verdict.evidence
    assert record[evidence.start : evidence.end] == evidence.text == '"Sunday": "9:0-12:0"'
    assert "{" not in scorer.calls[0][0].evidence


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
