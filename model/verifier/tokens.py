"""Build the embedded verifier's input, [CLS] question [SEP] claim [SEP] evidence [SEP], for training and scoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.checkpoints.minilm import minilm_tokenizer
from model.checkpoints.tokenizer import Encoding
from model.errors import ModelError
from model.verifier.encoder import CLS_ID, SEP_ID, SUPPORT_CONFIG

MAX_CLAIM_TOKENS, MAX_QUESTION_TOKENS, _SPECIAL = 160, 48, 4


@dataclass(frozen=True, slots=True)
class AnswerWindow:
    """A window's token ids, and the token span (start, end) of each of its claims."""

    token_ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


class SupportTokens:
    """A builder of windows from encoded texts. Long questions and claims are truncated.

    window_tokens: maximum evidence tokens in a window.
    """

    def __init__(self, window_tokens: int) -> None:
        self.tokenizer = minilm_tokenizer()
        self._window = window_tokens

    def room(self, claim: Encoding, question: Encoding) -> int:
        """Return the number of evidence tokens that fit with this claim and question."""
        return self.evidence_budget(min(len(claim.token_ids), MAX_CLAIM_TOKENS), question)

    def evidence_budget(self, claim_tokens: int, question: Encoding) -> int:
        """Return the number of evidence tokens that fit with claims of ``claim_tokens`` tokens (at most 160)."""
        taken = claim_tokens + min(len(question.token_ids), MAX_QUESTION_TOKENS)
        return min(self._window, SUPPORT_CONFIG.max_positions - _SPECIAL - taken)

    def window(self, question: Encoding, claim: Encoding, evidence: Sequence[int]) -> tuple[int, ...]:
        """Return the token ids of one window. Evidence that does not fit is truncated.

        Raises ModelError for an empty claim.
        """
        return self.answer_window(question, [claim], evidence).token_ids

    def answer_window(self, question: Encoding, claims: Sequence[Encoding], evidence: Sequence[int]) -> AnswerWindow:
        """Return one window with consecutive claims of an answer. Raises ModelError for an empty claim.

        Claim tokens beyond MAX_CLAIM_TOKENS in total are dropped.
        """
        question_ids = question.token_ids[:MAX_QUESTION_TOKENS]
        first = len(question_ids) + 2
        answer_ids: list[int] = []
        spans = []
        for claim in claims:
            if not claim.token_ids:
                raise ModelError("the claim is empty: there is nothing to verify")
            start = len(answer_ids)
            answer_ids += claim.token_ids[: MAX_CLAIM_TOKENS - start]
            spans.append((first + start, first + len(answer_ids)))
        room = self.evidence_budget(len(answer_ids), question)
        ids = (CLS_ID, *question_ids, SEP_ID, *answer_ids, SEP_ID, *evidence[:room], SEP_ID)
        return AnswerWindow(ids, tuple(spans))
