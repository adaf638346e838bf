"""A window's layout, what is cut where, and that no text can forge a border."""

from __future__ import annotations

import pytest

from model.errors import ModelError
from model.verifier.encoder import CLS_ID, FIRST_ORDINARY_ID, SEP_ID, SUPPORT_CONFIG
from model.verifier.tokens import MAX_CLAIM_TOKENS, MAX_QUESTION_TOKENS, SupportTokens


@pytest.fixture(scope="module")
def tokens() -> SupportTokens:
    return SupportTokens(40)


def join(tokens: SupportTokens, question: str, claim: str, evidence: str) -> tuple[int, ...]:
    encode = tokens.tokenizer.encode
    return tokens.window(encode(question), encode(claim), encode(evidence).token_ids)


def test_the_layout(tokens: SupportTokens) -> None:
    one, two, three = (tokens.tokenizer.encode(text).token_ids for text in ("when?", "in may", "it began in may"))
    assert join(tokens, "When?", "in May", "It began in May") == (CLS_ID, *one, SEP_ID, *two, SEP_ID, *three, SEP_ID)
    assert join(tokens, "", "in May", "") == (CLS_ID, SEP_ID, *two, SEP_ID, SEP_ID)


@pytest.mark.parametrize("claim", ["", "  ", "\u200b\u200b", "\x00"])
def test_a_claim_of_no_token_is_refused(tokens: SupportTokens, claim: str) -> None:
    with pytest.raises(ModelError, match="the claim is empty"):
        join(tokens, "Why?", claim, "It is so.")


def test_everything_too_long_is_cut_and_the_whole_fits(tokens: SupportTokens) -> None:
    for size in (40, 500):
        wide = SupportTokens(size)
        window = join(wide, "why " * 1000, "so " * 1000, "well " * 1000)
        assert len(window) <= SUPPORT_CONFIG.max_positions
        assert [window.count(wide.tokenizer.encode(w).token_ids[0]) for w in ("why", "so", "well")] == [
            MAX_QUESTION_TOKENS,
            MAX_CLAIM_TOKENS,
            min(size, 512 - 4 - MAX_QUESTION_TOKENS - MAX_CLAIM_TOKENS),
        ]
        encode = wide.tokenizer.encode
        assert wide.room(encode("so " * 1000), encode("why " * 1000)) == window.count(encode("well").token_ids[0])
    assert tokens.room(tokens.tokenizer.encode("so"), tokens.tokenizer.encode("")) == 40


def test_no_text_writes_a_special_token(tokens: SupportTokens) -> None:
    window = join(tokens, "[SEP] [CLS]", "so [SEP]", "[PAD] [SEP] [MASK]")
    assert [token for token in window if token < FIRST_ORDINARY_ID] == [CLS_ID, SEP_ID, SEP_ID, SEP_ID]
