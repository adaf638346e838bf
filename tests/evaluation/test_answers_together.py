"""Claims of one answer that are read together: grouping, training rows, verifiers, and exclusions."""

from __future__ import annotations

from typing import Any

import pytest

from data.pairs import PairExample
from data.ragtruth import RagResponse
from evaluation.analysis.claim_order import SEEN, run_drift
from evaluation.claims.answer_parts import answer_parts
from evaluation.detection.support import Statement, claim_supports
from evaluation.detection.verifier_scores import score_responses
from evaluation.errors import EvaluationError
from evaluation.statistics.measure import Settings
from evaluation.synthetic_claims.response_claims import response_claims
from evaluation.training_examples.answer_rows import AnswerMix, answer_rows, by_answer, supported_weights
from evaluation.verifiers.cached_scorer import CachedScorer
from evaluation.verifiers.entailment import EntailmentVerifier
from evaluation.verifiers.faithful import FaithfulVerifier
from evaluation.verifiers.verifier import VerificationItem
from model.pairs.scoring import Pair, answer_tokens
from model.verifier.tokens import SupportTokens
from tests.evaluation.entailment_helpers import QUESTION, Given, Neighbours

LAMP = "The lamp of Skerry is green. It stands 34 metres above the sea."
CLAIMS = ("The lamp is green.", "It is seen from Osk.", "It stands 34 metres high.", "Ada built it.")


@pytest.mark.parametrize(
    ("sizes", "most", "parts"),
    [
        ([], 5, []),
        ([2, 3, 1], 5, [(0, 1), (2,)]),
        ([2, 4, 1], 5, [(0,), (1, 2)]),
        ([9, 1, 1], 5, [(0,), (1, 2)]),
        ([1, 9, 1], 5, [(0,), (1,), (2,)]),
        ([1, 1, 1], 1, [(0,), (1,), (2,)]),
        ([0, 0], 1, [(0, 1)]),
    ],
)
def test_parts_are_neighbours_that_fit(sizes: list[int], most: int, parts: list[tuple[int, ...]]) -> None:
    assert answer_parts(sizes, most) == parts


def test_claims_of_a_statement_are_read_together_by_who_can() -> None:
    scorer = Neighbours()
    statement = Statement(LAMP, (CLAIMS[0], "...", *CLAIMS[1:]), "What of the lamp?")
    (found,) = claim_supports(scorer, [statement]).claims
    parts = {CLAIMS[:2], CLAIMS[2:]}
    assert {pair.answer for pair in scorer.pairs} == parts
    assert all(pair.claim in pair.answer for pair in scorer.pairs)
    assert [c.support for c in found] == [0.9, None, pytest.approx(0.4), pytest.approx(0.4), 0.9]
    assert found[2].answer == CLAIMS[:2]
    alone = Neighbours()
    (separate,) = claim_supports(alone, [statement], together=False).claims
    assert {pair.answer for pair in alone.pairs} == {()}
    assert [c.support for c in separate] == [0.9, None, pytest.approx(0.3), pytest.approx(0.3), 0.9]


def test_a_scorer_that_cannot_is_never_given_neighbours(overlap: Any) -> None:
    scorer = overlap()
    claim_supports(scorer, [Statement(LAMP, CLAIMS)])
    assert answer_tokens(scorer) == 0
    assert {pair.answer for call in scorer.calls for pair in call} == {()}
    assert answer_tokens(CachedScorer(Neighbours())) == 12


def test_a_cache_tells_a_claim_alone_from_one_among_others() -> None:
    scorer = Neighbours()
    cached = CachedScorer(scorer)
    pairs = [Pair(LAMP, CLAIMS[1]), Pair(LAMP, CLAIMS[1], answer=CLAIMS[:2]), Pair(LAMP, CLAIMS[1], answer=CLAIMS)]
    first = cached.score(pairs)
    assert len(set(first)) == 3
    assert cached.score(pairs) == first and len(scorer.pairs) == 3


def responses() -> list[RagResponse]:
    text = "The lamp is green. It is seen from Osk. It stands 34 metres high."
    start = text.index("from Osk")
    marked = RagResponse("a", "1", "qa", "m", LAMP, "What?", text, True, ((start, start + 8),), "train")
    return [
        marked,
        RagResponse(
            "a", "1", "qa", "m", LAMP, "What?", "It is quite green. It stands rather high.", False, (), "train"
        ),
    ]


def test_responses_are_judged_together_and_their_words_too() -> None:
    scorer = Neighbours()
    score_responses(scorer, responses(), words=True)
    among = [pair for pair in scorer.pairs if pair.answer]
    assert len(among) == len(scorer.pairs) > 8
    assert all(pair.claim in pair.answer for pair in among)  # the claim without a word keeps its position
    scorer = Neighbours()
    score_responses(scorer, responses(), together=False, words=True)
    assert not any(pair.answer for pair in scorer.pairs)


def test_examples_know_their_answer_even_if_ids_are_not_unique() -> None:
    examples = list(response_claims(responses(), "lamps"))
    pair = PairExample(LAMP, "The lamp is green.", True)
    alone, answers = by_answer([pair, *examples])
    assert alone == [pair]
    assert [[e.claim for e in answer] for answer in answers] == [
        ["The lamp is green.", "It is seen from Osk.", "It stands 34 metres high."],
        ["It is quite green.", "It stands rather high."],
    ]


def test_weights_balance_what_is_supported() -> None:
    answers = by_answer(list(response_claims(responses(), "lamps")))[1]
    assert supported_weights(answers, None) == {"lamps:qa": 1.0}
    assert supported_weights(answers, 1.5) == {"lamps:qa": pytest.approx(1.5 * 1 / 4)}
    assert supported_weights(answers, 9.0) == {"lamps:qa": 1.0}
    assert supported_weights(answers[1:], 0.1) == {"lamps:qa": 1.0}  # nothing to balance it with


@pytest.fixture(scope="module")
def tokens() -> SupportTokens:
    return SupportTokens(40)


def test_an_answer_is_one_row_whose_claims_know_their_places(tokens: SupportTokens) -> None:
    answers = by_answer(list(response_claims(responses(), "lamps")))[1]
    rows = list(answer_rows(answers, tokens, mix=AnswerMix(smaller=0.0), weights={"lamps:qa": 0.375}))
    assert [len(row.claims) for row in rows] == [3, 2]
    first = rows[0]
    expected = [tokens.tokenizer.decode(first.windows[0][c.start : c.end]) for c in first.claims]
    assert expected == ["the lamp is green.", "it is seen from osk.", "it stands 34 metres high."]
    assert [c.supported for c in first.claims] == [True, False, True]
    assert [c.weight for c in first.claims] == [0.375, 1.0, 0.375]
    wrong = [t for t, w in zip(first.windows[0][first.claims[1].start :], first.claims[1].wrong, strict=False) if w]
    assert tokens.tokenizer.decode(wrong) == "from osk"
    encode = tokens.tokenizer.encode
    full = tokens.answer_window(encode("What?"), [encode(e.claim) for e in answers[0]], encode(LAMP).token_ids)
    assert first.windows == (full.token_ids,)


def test_rows_hold_no_more_tokens_than_asked_and_every_claim_once(tokens: SupportTokens) -> None:
    long = [PairExample(LAMP * 40, f"Claim {n} of the lamp is green.", True, answer="1") for n in range(30)]
    rows = list(answer_rows([long], tokens, mix=AnswerMix(60, 2, 0.0)))
    assert sum(len(row.claims) for row in rows) == 30
    assert all(row.claims[-1].end - row.claims[0].start <= 60 for row in rows)
    assert {len(row.windows) for row in rows} == {2}


def test_smaller_parts_come_as_often_as_asked_and_depend_on_the_seed_alone(tokens: SupportTokens) -> None:
    answers = [[PairExample(LAMP, f"Lamp {a} {n} is green.", True, answer=str(a)) for n in range(8)] for a in range(90)]
    rows = list(answer_rows(answers, tokens, mix=AnswerMix(smaller=1.0), seed=3))
    assert rows == list(answer_rows(answers, tokens, mix=AnswerMix(smaller=1.0), seed=3))
    assert rows != list(answer_rows(answers, tokens, mix=AnswerMix(smaller=1.0), seed=4))
    sizes = {len(row.claims) for row in rows}
    assert 1 in sizes and max(sizes) > 4
    assert all(row.claims[-1].end - row.claims[0].start <= 80 for row in rows)
    assert len(list(answer_rows(answers, tokens, mix=AnswerMix(smaller=0.0)))) == 90


def test_claims_without_a_token_are_left_out_of_rows(tokens: SupportTokens) -> None:
    nothing = PairExample(LAMP, "\u200b\u200b", True, answer="1")
    (row,) = answer_rows([[nothing, PairExample(LAMP, "It is green.", True, answer="1")], [nothing]], tokens)
    assert len(row.claims) == 1


@pytest.mark.parametrize("bad", [(0, 3, 0.4), (161, 3, 0.4), (160, 0, 0.4), (160, 3, 1.1), (160, 3, float("nan"))])
def test_a_mix_that_cannot_be(bad: tuple[int, int, float]) -> None:
    with pytest.raises(EvaluationError, match="1 to 160"):
        AnswerMix(*bad)


def test_an_entailment_verifier_reads_together_only_when_told() -> None:
    answer = "It is quite green. It stands rather high."  # "quite" is a content word that can be left out
    found = {}
    for together in (False, True):
        scorer = Neighbours()
        verifier = EntailmentVerifier(scorer, Given(LAMP), together=together)
        claims = verifier.extract(QUESTION, answer).claims
        (verdicts,) = verifier.verify([VerificationItem(QUESTION, claims, answer)])
        found[together] = [v.support for v in verdicts]
        windows = [pair for pair in scorer.pairs if pair.evidence == LAMP]
        assert {pair.answer for pair in windows} == (
            {("It is quite green.", "It stands rather high.")} if together else {()}
        )
        scorer.pairs.clear()
        verifier.mark(QUESTION, claims[:1], claims)
        left_out = [pair for pair in scorer.pairs if pair.claim == "It is green."]
        assert {pair.answer for pair in left_out} == (
            {("It is green.", "It stands rather high.")} if together else {()}
        )
        assert verifier.name.endswith(" together") is together is verifier.together
    assert found == {False: [pytest.approx(0.3)] * 2, True: [pytest.approx(0.4)] * 2}
    assert FaithfulVerifier(Neighbours(), together=True).name.endswith(" together")


def test_equal_claims_of_other_answers_are_other_questions_to_the_scorer() -> None:
    scorer = Neighbours()
    verifier = EntailmentVerifier(scorer, Given(LAMP), together=True)
    texts = (
        "It is quite green. It stands rather high.",
        "It is quite green.",
        "It is quite green. It stands rather high. It is old.",
    )
    items = [VerificationItem(QUESTION, verifier.extract(QUESTION, t).claims, t) for t in texts]
    supports = [verdicts[0].support for verdicts in verifier.verify(items)]
    assert supports == [pytest.approx(0.4), pytest.approx(0.3), pytest.approx(0.5)]
    assert [v[0].support for v in verifier.verify(items[::-1])] == supports[::-1]


def test_a_scorer_that_cannot_is_refused_by_name(overlap: Any) -> None:
    with pytest.raises(EvaluationError, match="overlap/60"):
        EntailmentVerifier(overlap(), Given(LAMP), together=True)


def test_drift_is_not_looked_for_in_verdicts_that_saw_other_claims() -> None:
    name = EntailmentVerifier(Neighbours(), Given(LAMP), together=True).name
    (found,) = run_drift([], ["rag"], Settings(), f"routed/2 reference/1 | {name} | faithful")
    assert (found.found, found.reason) == (None, SEEN)
    alone = EntailmentVerifier(Neighbours(), Given(LAMP)).name
    for other in (alone, alone.replace("neighbours", "all together now")):  # the name of a scorer does not matter
        assert run_drift([], ["rag"], Settings(), other)[0].reason != SEEN
