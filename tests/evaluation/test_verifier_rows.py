"""Training rows of the verifier: windows cut as in use, with word labels where they are known."""

from __future__ import annotations

import random

import pytest

from data.pairs import PairExample
from evaluation.errors import EvaluationError
from evaluation.training_examples.verifier_rows import WindowMix, verifier_rows
from model.training.pair_rows import PairRow
from model.verifier.encoder import SEP_ID
from model.verifier.tokens import MAX_CLAIM_TOKENS, MAX_QUESTION_TOKENS, SupportTokens

ALONE = WindowMix(strangers=0.0)
LAMP = "The lamp of Skerry is green. It stands 34 metres above the sea."


@pytest.fixture(scope="module")
def tokens() -> SupportTokens:
    return SupportTokens(24)


def rows(tokens: SupportTokens, *examples: PairExample, mix: WindowMix = ALONE, seed: int = 0) -> list[PairRow]:
    return list(verifier_rows(examples, tokens, mix=mix, seed=seed))


def evidence_of(window: tuple[int, ...]) -> tuple[int, ...]:
    second = [place for place, token in enumerate(window) if token == SEP_ID][1]
    return window[second + 1 : -1]


def decoded(tokens: SupportTokens, row: PairRow, label: int) -> str:
    """Return the words of the claim with this label, as text."""
    (claim,) = row.claims
    ids = row.windows[0][claim.start : claim.end]
    return " ".join(
        tokens.tokenizer.token(token) for token, wrong in zip(ids, claim.wrong, strict=True) if wrong == label
    )


def test_a_short_row_is_the_window_that_is_scored_later(tokens: SupportTokens) -> None:
    (row,) = rows(tokens, PairExample(LAMP, "34 metres", True, "How high is it?"))
    encode = tokens.tokenizer.encode
    assert row.windows == (tokens.window(encode("How high is it?"), encode("34 metres"), encode(LAMP).token_ids),)
    (claim,) = row.claims
    assert claim.supported and claim.weight == 1.0
    assert tokens.tokenizer.decode(row.windows[0][claim.start : claim.end]) == "34 metres"


def test_words_are_labelled_where_they_are_known(tokens: SupportTokens) -> None:
    claim = "The lamp is bright red, and old."
    spans = ((claim.index("bright"), claim.index(",")),)
    known, right, unknown, none = rows(
        tokens,
        PairExample(LAMP, claim, False, "What of it?", wrong=spans),
        PairExample(LAMP, claim, True, "What of it?"),
        PairExample(LAMP, claim, False, "What of it?"),
        PairExample(LAMP, claim, False, "What of it?", wrong=()),
    )
    assert decoded(tokens, known, 1) == "bright red"
    assert decoded(tokens, known, 0) == "the lamp is , and old ."
    for row in (right, none):  # supported: no word is wrong, even if some are marked
        assert decoded(tokens, row, 0) == "the lamp is bright red , and old ."
        assert decoded(tokens, row, 1) == ""
    assert unknown.claims[0].wrong == ()


def test_words_are_found_behind_a_long_question_and_in_a_long_claim(tokens: SupportTokens) -> None:
    claim = "so " * (MAX_CLAIM_TOKENS - 1) + "wrong and more"
    place = claim.index("wrong")
    (row,) = rows(tokens, PairExample(LAMP, claim, False, "why " * 100, wrong=((place, place + 14),)))
    assert decoded(tokens, row, 1) == "wrong"  # the rest was cut off
    assert row.windows[0].index(SEP_ID) == 1 + MAX_QUESTION_TOKENS


def test_long_evidence_becomes_the_windows_that_share_most_with_the_claim(tokens: SupportTokens) -> None:
    filler = [f"Sentence number {n} speaks of sand and of nothing else at all." for n in range(40)]
    text = " ".join([*filler[:23], "The keeper kept bees.", *filler[23:]])
    (row,) = rows(tokens, PairExample(text, "The keeper kept bees.", True), mix=WindowMix(3, 0.0))
    parts = [tokens.tokenizer.decode(evidence_of(window)) for window in row.windows]
    assert len(parts) == 3
    assert sum("keeper kept bees" in part for part in parts) >= 1
    assert all(len(evidence_of(window)) <= 24 for window in row.windows)
    places = [text.lower().index(part.split(".")[0].replace("##", "")) for part in parts]
    assert places == sorted(places)  # in the order of the text
    (every,) = rows(tokens, PairExample(text, "The keeper kept bees.", True), mix=WindowMix(1000, 0.0))
    assert len(every.windows) > 20
    joined = " ".join(tokens.tokenizer.decode(evidence_of(window)) for window in every.windows)
    assert all(f"sentence number {n} speaks" in joined for n in range(40))


@pytest.mark.parametrize("tokens_at_least", [10_000, pytest.param(100_000, marks=pytest.mark.drill)])
def test_long_evidence_is_a_few_windows(tokens: SupportTokens, tokens_at_least: int) -> None:
    wide = SupportTokens(300)
    long = f"The lamp is green, they say, {'and seen from far away ' * 20}. " * (tokens_at_least // 80)
    assert wide.tokenizer.count(long) > tokens_at_least
    (row,) = rows(wide, PairExample(long, "The lamp is green.", True))
    assert len(row.windows) == WindowMix().most
    assert row.longest <= 512


def test_records_are_read_as_sentences(tokens: SupportTokens) -> None:
    (row,) = rows(tokens, PairExample('{"hours": {"Monday": "17:30 to 23:00"}}', "It opens at 17:30.", True))
    read = tokens.tokenizer.decode(evidence_of(row.windows[0]))
    assert "{" not in read and '"' not in read
    assert "monday" in read and "17 : 30" in read


def test_strangers_come_as_often_as_asked_beside_rows_of_one_window(tokens: SupportTokens) -> None:
    examples = [PairExample(f"Lamp {n} is green.", f"Lamp {n} is green.", True) for n in range(400)]
    mixed = rows(tokens, *examples, mix=WindowMix(5, 0.25))
    plain = rows(tokens, *examples)
    with_stranger = [row for row in mixed if len(row.windows) == 2]
    # 400 rows at 0.25: binomial, outside 60 to 143 in less than one draw of 100,000 (and the seed is fixed).
    assert 60 < len(with_stranger) < 143
    assert [row.windows[0] for row in mixed] == [row.windows[0] for row in plain]
    others = {evidence_of(row.windows[0]) for row in plain}
    assert all(evidence_of(row.windows[1]) in others for row in with_stranger)
    assert sum(evidence_of(row.windows[0]) != evidence_of(row.windows[1]) for row in with_stranger) > 50
    assert all(len(row.windows) == 1 for row in plain)


def test_rows_depend_on_seed_and_examples_alone(tokens: SupportTokens) -> None:
    examples = [PairExample(f"Lamp {n} is green.", f"Lamp {n} is red.", False) for n in range(60)]
    mix = WindowMix(5, 0.5)
    state = random.getstate()
    first = rows(tokens, *examples, mix=mix, seed=1)
    assert rows(tokens, *examples, mix=mix, seed=1) == first != rows(tokens, *examples, mix=mix, seed=2)
    assert random.getstate() == state


def test_order_and_length_are_kept_over_many_examples(tokens: SupportTokens) -> None:
    """There are more examples than are encoded in one batch."""
    examples = [PairExample("Some lamp.", f"Lamp {n}", n % 2 == 0) for n in range(2050)]
    found = rows(tokens, *examples)
    assert [row.claims[0].supported for row in found] == [n % 2 == 0 for n in range(2050)]
    number = tokens.tokenizer.encode("2049").token_ids
    assert " ".join(map(str, number)) in " ".join(map(str, found[2049].windows[0]))


def test_what_has_no_token_is_left_out_or_empty(tokens: SupportTokens) -> None:
    nothing = "\u200b\u200b"
    assert rows(tokens, PairExample(LAMP, nothing, True)) == []
    (row,) = rows(tokens, PairExample(nothing, "The lamp is green.", False))
    assert evidence_of(row.windows[0]) == ()
    assert rows(tokens) == []


@pytest.mark.parametrize("bad", [(0, 0.1), (3, -0.1), (3, 1.1), (3, float("nan"))])
def test_a_mix_that_cannot_be(bad: tuple[int, float]) -> None:
    with pytest.raises(EvaluationError, match="window"):
        WindowMix(*bad)
