"""Derive the merges of a BPE vocabulary from a file's list or from SentencePiece's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from tokenizers.pre_tokenizers import ByteLevel

from model.errors import ModelError


def pairs(merges: Sequence[str], vocabulary: Mapping[str, int], where: str) -> list[tuple[str, str]]:
    """Return the merges as pairs of tokens. Raises ModelError if a part or the result is not in the vocabulary."""
    found: list[tuple[str, str]] = []
    for merge in merges:
        left, space, right = merge.partition(" ")
        if not space or " " in right or not {left, right, left + right} <= vocabulary.keys():
            raise ModelError(
                f"{where} holds {merge[:80]!r}, which does not join two tokens of the vocabulary to a third"
            )
        found.append((left, right))
    return found


def merges_from_scores(vocabulary: Mapping[str, int], scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return all ways to join two tokens to a third, with the highest-scored result first.

    SentencePiece's BPE joins the adjacent tokens whose result has the highest score, so its files have no merges. Ties
    are ordered as in transformers (generate_merges): longer parts first.
    """
    found: list[tuple[float, int, int, str, str]] = []
    for token, score in scores.items():
        ways = [
            (token[:cut], token[cut:])
            for cut in range(1, len(token))
            if token[:cut] in vocabulary and token[cut:] in vocabulary
        ]
        ways.sort(key=lambda way: (vocabulary[way[0]], vocabulary[way[1]]))
        found.extend((score, len(left), len(right), left, right) for left, right in ways)
    found.sort(key=lambda item: item[:3], reverse=True)
    return [(left, right) for *_, left, right in found]


def in_byte_alphabet(token: str) -> str:
    """Return a token in GPT-2's alphabet, which has a printable character for each byte. It may already be in it."""
    alphabet = _alphabet()
    return token if set(token) <= alphabet else "".join(_byte_characters()[byte] for byte in token.encode())


@cache
def _alphabet() -> frozenset[str]:
    return frozenset(ByteLevel.alphabet())


@cache
def _byte_characters() -> Mapping[int, str]:
    """Return GPT-2's character for each byte: printable Latin-1 maps to itself, other bytes to 256 and above."""
    printable = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
    others = (byte for byte in range(256) if byte not in printable)
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
