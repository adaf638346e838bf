"""Compute the lexical penalty of a claim, which is subtracted from the network's logit."""

from __future__ import annotations

from model.pairs.scoring import Pair
from model.verifier.answer_context import context_score, is_short_answer_claim
from model.verifier.content_words import share_missing
from model.verifier.extrinsic import extrinsic
from model.verifier.files import SupportUse


def lexical_penalty(pair: Pair, use: SupportUse) -> float:
    """Return the non-negative penalty of a pair's claim, in logits (see SupportUse).

    The claim's words are searched in all of the evidence, because they may be in another window. The question's words
    are searched in the window only, where they should be around the answer.
    """
    penalty, evidence = 0.0, pair.full_evidence or pair.evidence
    if use.number_lack or use.name_lack:
        missing = extrinsic(pair.claim, evidence, pair.question)
        penalty += use.number_lack * bool(missing.numbers) + use.name_lack * bool(missing.names)
    if use.word_lack:
        penalty += use.word_lack * share_missing(pair.claim, evidence)
    if use.question_lack and is_short_answer_claim(pair.question, pair.claim):
        penalty += use.question_lack * (1.0 - context_score(pair.question, pair.claim, pair.evidence))
    return penalty
