"""The embedded verifier's input: [CLS] question [SEP] claim [SEP] evidence [SEP], used alike to train and to score."""

from __future__ import annotations

from collections.abc import Sequence

from model.errors import ModelError
from model.minilm import minilm_folder
from model.support_encoder import CLS_ID, SEP_ID, SUPPORT_CONFIG
from model.tokenizer import Encoding, Tokenizer

MAX_CLAIM_TOKENS, MAX_QUESTION_TOKENS, _SPECIAL = 160, 48, 4


class SupportTokens:
    """Encodes texts once and joins them to windows. The tail of a long question or claim is not read."""

    def __init__(self, window_tokens: int) -> None:
        self.tokenizer = Tokenizer(minilm_folder() / "tokenizer.json")
        self._window = window_tokens

    def room(self, claim: Encoding, question: Encoding) -> int:
        """Tokens of evidence that fit beside them."""
        taken = min(len(claim.token_ids), MAX_CLAIM_TOKENS) + min(len(question.token_ids), MAX_QUESTION_TOKENS)
        return min(self._window, SUPPORT_CONFIG.max_positions - _SPECIAL - taken)

    def window(self, question: Encoding, claim: Encoding, evidence: Sequence[int]) -> tuple[int, ...]:
        """The token ids of one window; evidence beyond the room is cut off. Raises ModelError for an empty claim."""
        if not claim.token_ids:
            raise ModelError("the claim is empty: there is nothing to verify")
        return (
            CLS_ID,
            *question.token_ids[:MAX_QUESTION_TOKENS],
            SEP_ID,
            *claim.token_ids[:MAX_CLAIM_TOKENS],
            SEP_ID,
            *evidence[: self.room(claim, question)],
            SEP_ID,
        )
