"""The embedded verifier as a scorer: each pair once, calibrated, whatever stands beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from model.errors import ModelError
from model.pairs.scoring import Pair
from model.verifier.encoder import SupportEncoder
from model.verifier.files import LoadedSupport, SupportUse
from model.verifier.scorer import SupportScorer

LAMP = "The lamp of Skerry is green and stands 34 metres above the sea."
PAIRS = (
    Pair(LAMP, "The lamp is green."),
    Pair(LAMP, "The lamp is red."),
    Pair(LAMP * 12, "34 metres", "How high is it?"),
    Pair("", "The lamp is green."),
    Pair(LAMP, "34 metres", "How high is it?"),
    Pair("🜚 🜚", "🜚"),
)


@pytest.fixture(scope="module")
def loaded(small_support: Callable[..., SupportEncoder]) -> LoadedSupport:
    """Random weights: real tokens, real windows, scores that make no sense."""
    model = small_support(vocabulary=30522, positions=512).eval().requires_grad_(False)
    return LoadedSupport(model, SupportUse(60, 2.0, -0.5), "a1" * 32)


@pytest.fixture(scope="module")
def scorer(loaded: LoadedSupport) -> SupportScorer:
    return SupportScorer(loaded, bf16=False)


def test_a_pair_scores_the_same_alone_and_in_company(scorer: SupportScorer) -> None:
    together = scorer.score(PAIRS)
    assert together == scorer.score(PAIRS)
    assert [scorer.score([pair])[0] for pair in PAIRS] == pytest.approx(together, abs=1e-5)
    backwards = scorer.score([*PAIRS[::-1], PAIRS[2]])
    assert backwards[:-1] == pytest.approx(together[::-1], abs=1e-5)
    assert len({round(score, 4) for score in together}) == len(PAIRS)
    assert all(0 <= score <= 1 for score in together)


def test_equal_pairs_are_read_once(loaded: LoadedSupport, scorer: SupportScorer) -> None:
    rows: list[int] = []
    handle = loaded.model.register_forward_hook(lambda model, inputs, output: rows.append(inputs[0].shape[0]))
    many = [PAIRS[i % 3] for i in range(50)]
    found = scorer.score(many)
    handle.remove()
    assert sum(rows) == 3
    assert found == tuple(found[i % 3] for i in range(50))


def test_the_calibration_is_applied(loaded: LoadedSupport, scorer: SupportScorer) -> None:
    logits = scorer.logits(PAIRS)
    assert logits.dtype == torch.float64
    assert scorer.score(PAIRS) == pytest.approx([1 / (1 + math.exp(0.5 - 2 * x)) for x in logits.tolist()])
    plain = SupportScorer(replace(loaded, use=SupportUse(60)), bf16=False)
    assert plain.score(PAIRS) == pytest.approx(torch.sigmoid(logits).tolist())


def test_numbers_and_names_that_all_of_the_evidence_lacks_lower_support(loaded: LoadedSupport) -> None:
    use = SupportUse(60, number_lack=2.0, name_lack=1.0)
    plain = SupportScorer(replace(loaded, use=SupportUse(60)), bf16=False)
    scorer = SupportScorer(replace(loaded, use=use), bf16=False)
    claims = ("It is 34 metres high.", "It is 43 metres high.", "The lamp of Fidra is 43 or 44 metres high.")
    pairs = [Pair(LAMP, claim) for claim in claims]
    both = zip(scorer.score(pairs), plain.score(pairs), strict=True)
    odds = [math.log(less / (1 - less)) - math.log(more / (1 - more)) for less, more in both]
    assert odds == pytest.approx([0.0, -2.0, -3.0], abs=1e-4)
    # What another window has, or the question, is not lacking; and the network reads the window, not the whole.
    known = [Pair(LAMP, claims[2], "", f"{LAMP} Fidra: 43 and 44."), Pair(LAMP, claims[2], "Is Fidra's 43 or 44?")]
    assert scorer.score(known) == plain.score(known)
    assert plain.score(known[:1]) == plain.score([Pair(LAMP, claims[2])])


def test_in_bf16_scores_move_a_little(loaded: LoadedSupport, scorer: SupportScorer) -> None:
    lower = SupportScorer(loaded, bf16=True).score(PAIRS)
    assert lower == pytest.approx(scorer.score(PAIRS), abs=0.1)
    assert lower != scorer.score(PAIRS)


def test_evidence_of_a_hundred_thousand_tokens_is_cut(scorer: SupportScorer) -> None:
    claim = "The lamp is green."
    long, cut = scorer.score([Pair("green lamp " * 50_000, claim), Pair("green lamp " * 30, claim)])
    assert long == pytest.approx(cut, abs=1e-6)


def test_what_cannot_be_scored(scorer: SupportScorer) -> None:
    for empty in ("", " \n", "\u200b"):
        with pytest.raises(ModelError, match="the claim is empty"):
            scorer.score([*PAIRS, Pair(LAMP, empty)])
    assert scorer.score([]) == ()


def test_it_says_how_far_it_is_and_who_it_is(scorer: SupportScorer) -> None:
    progress: list[tuple[int, int]] = []
    many = [Pair(f"Lamp {n} is green. " * (n % 7 + 1), "It is green.") for n in range(300)]
    scorer.score(many, lambda done, total: progress.append((done, total)))
    assert progress[-1] == (300, 300)
    assert len(progress) > 1
    assert [done for done, _ in progress] == sorted({done for done, _ in progress})
    assert scorer.name == "embedded/" + "a1" * 8
    assert scorer.count(["", "green lamp", "a 🜚"]) == [0, 2, 2]
    assert scorer.room("green") == 60
    assert scorer.room("so " * 500, "why " * 500) == 60


ANSWER = ("The lamp is green.", "It stands 43 metres high.", "Osk is near.")


@pytest.fixture(scope="module")
def reader(loaded: LoadedSupport) -> SupportScorer:
    """The same network, reading up to 24 tokens of an answer at once, with a calibration for that."""
    return SupportScorer(replace(loaded, use=SupportUse(60, 2.0, -0.5, answer_tokens=24, answer_slope=3.0)), bf16=False)


def test_claims_of_an_answer_are_read_at_once_and_told_apart(loaded: LoadedSupport, reader: SupportScorer) -> None:
    pairs = [Pair(LAMP, claim, "What of it?", answer=ANSWER) for claim in (*ANSWER, ANSWER[0])]
    shapes: list[torch.Size] = []
    handle = loaded.model.register_forward_hook(lambda model, inputs, output: shapes.append(inputs[0].shape))
    found = reader.score(pairs)
    handle.remove()
    assert [shape[0] for shape in shapes] == [1]
    assert found[3] == found[0] and len(set(found)) == 3
    assert reader.score(pairs[1:2]) == pytest.approx(found[1:2], abs=1e-5)
    logits = reader.logits(pairs).tolist()
    assert found == pytest.approx([1 / (1 + math.exp(-3 * x)) for x in logits])


def test_each_claim_is_judged_by_its_own_worst_word(loaded: LoadedSupport, reader: SupportScorer) -> None:
    encode = reader.tokens.tokenizer.encode
    window = reader.tokens.answer_window(encode(""), [encode(c) for c in ANSWER], encode(LAMP).token_ids)
    with torch.inference_mode():
        out = loaded.model(torch.tensor([window.token_ids]))
    expected = [float(out.overall - out.words[0, start:end].max()) for start, end in window.spans]
    assert reader.logits([Pair(LAMP, c, answer=ANSWER) for c in ANSWER]).tolist() == pytest.approx(expected, abs=1e-5)


def test_one_claim_is_read_as_ever_whatever_the_verifier_can(scorer: SupportScorer, reader: SupportScorer) -> None:
    alone = scorer.score([Pair(LAMP, ANSWER[0])])
    assert reader.score([Pair(LAMP, ANSWER[0]), Pair(LAMP, ANSWER[0], answer=ANSWER[:1])]) == alone * 2
    assert scorer.score([Pair(LAMP, ANSWER[0], answer=ANSWER)]) == alone  # this one reads claims alone
    assert (scorer.answer_tokens, reader.answer_tokens) == (0, 24)


def test_short_answers_have_a_curve_of_their_own(loaded: LoadedSupport) -> None:
    use = SupportUse(60, 2.0, -0.5, answer_tokens=24, answer_slope=3.0, short_slope=0.5, short_intercept=-1.0)
    scorer = SupportScorer(replace(loaded, use=use), bf16=False)
    pairs = [
        Pair(LAMP, "It is green.", "What colour is it?"),
        Pair(LAMP, "It is green.", "  "),  # nothing is asked
        Pair(LAMP, "It is green and it stands near the gate of Osk.", "What colour is it?"),  # nine words and more
        *(Pair(LAMP, claim, "What of it?", answer=ANSWER) for claim in ANSWER[:1]),
    ]
    odds = [math.log(s / (1 - s)) for s in scorer.score(pairs)]
    logits = scorer.logits(pairs).tolist()
    curves = [(0.5, -1.0), (2.0, -0.5), (2.0, -0.5), (3.0, 0.0)]
    assert odds == pytest.approx([a * x + b for (a, b), x in zip(curves, logits, strict=True)], abs=1e-4)


def test_what_cannot_be_read_together(reader: SupportScorer) -> None:
    with pytest.raises(ModelError, match="'Odo sings'"):
        reader.score([Pair(LAMP, "Odo sings", answer=ANSWER)])
    with pytest.raises(ModelError, match=r"43 tokens.* 24"):
        reader.score([Pair(LAMP, "so " * 40, answer=("so " * 40, "Osk is"))])
    with pytest.raises(ModelError, match="the claim is empty"):
        reader.score([Pair(LAMP, "Osk", answer=("Osk", "\u200b"))])


def test_what_the_evidence_lacks_is_a_claims_own(loaded: LoadedSupport) -> None:
    use = SupportUse(60, number_lack=2.0, answer_tokens=24)
    scorer = SupportScorer(replace(loaded, use=use), bf16=False)
    pairs = [Pair(LAMP, claim, answer=ANSWER) for claim in ANSWER]
    odds = [math.log(s / (1 - s)) for s in scorer.score(pairs)]
    lacks = [x - y for x, y in zip(scorer.logits(pairs).tolist(), odds, strict=True)]
    assert lacks == pytest.approx([0.0, 2.0, 0.0], abs=1e-4)  # 43 metres, which the evidence does not have
