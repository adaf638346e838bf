"""Exact-match marks: whether a token also occurs in the other text of a pair, alone or with an adjacent token.

A small uncased encoder learns this slowly, and names and numbers depend on it. DrQA uses it as a feature (Chen et al.
2017, section 3.2).
"""

from __future__ import annotations

import torch
from torch import Tensor

# Parts of a sequence. QUESTION and CLAIM are one side, EVIDENCE is the other. NOTHING: special tokens and padding.
QUESTION, CLAIM, EVIDENCE, NOTHING = 0, 1, 2, 3
MARKS = 10
PLAIN_MARK = MARKS - 1


def exact_marks(token_ids: Tensor, parts: Tensor) -> Tensor:
    """Return the mark of each token, (B, T). token_ids, parts: (B, T).

    The mark is 3 * part plus 0 (the token is absent on the other side), 1 (present) or 2 (present with the same
    adjacent token). It is PLAIN_MARK if the part is NOTHING. The other side of QUESTION and CLAIM is EVIDENCE, and vice
    versa.
    """
    first = parts <= CLAIM
    second = parts == EVIDENCE
    across = (first[:, :, None] & second[:, None, :]) | (second[:, :, None] & first[:, None, :])  # (B, T, T)
    same = (token_ids[:, :, None] == token_ids[:, None, :]) & across
    begins = (same[:, :-1, :-1] & same[:, 1:, 1:]).any(dim=2)  # this token and the next one, adjacent on the other side
    adjacent = torch.zeros_like(first)
    adjacent[:, :-1] |= begins
    adjacent[:, 1:] |= begins
    code = same.any(dim=2).long() + adjacent.long()
    return torch.where(parts == NOTHING, PLAIN_MARK, 3 * parts + code)


def prompt_parts(token_ids: Tensor, prompt_lengths: Tensor, separator: int, first_ordinary: int) -> Tensor:
    """Return the part of each token, (B, T): QUESTION up to the first separator, then EVIDENCE.

    Special tokens and tokens beyond the prompt are NOTHING. token_ids: (B, T). prompt_lengths: (B).
    """
    inside = torch.arange(token_ids.shape[1], device=token_ids.device)[None] < prompt_lengths[:, None]
    passed = (token_ids == separator).cumsum(dim=1) > 0
    parts = torch.where(passed, EVIDENCE, QUESTION)
    return torch.where(inside & (token_ids >= first_ordinary), parts, NOTHING)


def follow_lengths(prompt: Tensor, answer: Tensor, most: int) -> Tensor:
    """Return for each prompt position the length of the copied span that ends directly before it: (B, A, P).

    Entry [b, a, p] is the largest n <= most with answer[a - n : a] == prompt[p - n : p], so that a copied span may
    continue at p with answer token a. Answer tokens from a on are ignored. prompt: (B or 1, P). answer: (B, A). most:
    at least 1.
    """
    batch, length = answer.shape
    previous = torch.full((batch, length, prompt.shape[1]), False, device=prompt.device)
    same = prompt[:, None, :] == answer[:, :, None]  # (B, A, P): answer token a is prompt token p
    previous[:, 1:, 1:] = same[:, :-1, :-1]
    out = previous.long()
    run = previous
    for _ in range(most - 1):
        shifted = torch.zeros_like(run)
        shifted[:, 1:, 1:] = run[:, :-1, :-1]
        run = previous & shifted
        out = out + run.long()
    return out
