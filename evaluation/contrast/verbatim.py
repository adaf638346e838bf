"""Detection of evidence that states a claim, or its negation, word for word.

It serves languages that the scorer cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from model.english import word_set

_NEGATIONS = word_set(
    "nicht kein keine keinen keiner nie niemals ohne ne pas n jamais aucun aucune sans no nunca ningún ninguna sin não "
    "nem nenhum nenhuma sem non nessun nessuna senza mai niet geen nooit zonder nie bez żaden не нет ни без inte ej "
    "aldrig utan ikke ingen aldri uden ei en eivät ilman değil yok hiç tidak bukan tanpa nu fără nem nincs ne nikdy "
    "jamás tampoco không chưa"
)
_NEGATING_CHARACTERS = frozenset("不没沒未无無非別别")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]|\w+(?:[.,]\d+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？\n]+|[,;:，；：](?=\s|[\u3400-\u9fff])")
_MOST_DROPPED = 4
_LEAST = 2


def states(claim: str, evidence: str) -> bool | None:
    """Return whether a sentence or clause of the evidence states the claim.

    True if it contains the claim's words in order, False if it does so with one negation more or less, None otherwise.
    The clause may contain one additional name or number ("La garantie du Heron 4 dure trois ans").
    """
    words = _words(claim)
    if len(words) < _LEAST:
        return None
    found = [_clause_states(words, _words(clause)) for clause in _SENTENCE.split(evidence)]
    return True if True in found else False if False in found else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("'", " ").replace("’", " "))


def _clause_states(claim: Sequence[str], clause: Sequence[str]) -> bool | None:
    own, there = _without_denial(claim), _without_denial(clause)
    if len(own) < _LEAST or not _within(own, there):
        return None
    return _denials(claim) % 2 == _denials(clause) % 2


def _without_denial(words: Sequence[str]) -> list[str]:
    return [word for word in words if not _denies(word)]


def _denials(words: Sequence[str]) -> int:
    """Count the negations; "ne ... pas" counts once."""
    count = sum(map(_denies, words))
    french = "ne" in words or "n" in words
    return count - (french and count > 1)


def _denies(word: str) -> bool:
    return word.casefold() in _NEGATIONS or word in _NEGATING_CHARACTERS


def _within(own: Sequence[str], there: Sequence[str]) -> bool:
    """Return whether words occur in a clause in order, with at most one gap, which must contain a name or number."""
    low, there_low = [word.casefold() for word in own], [word.casefold() for word in there]
    for start, word in enumerate(there_low):
        if word != low[0]:
            continue
        index = start
        at = 0
        while at < len(low) and index < len(there_low) and there_low[index] == low[at]:
            index, at = index + 1, at + 1
        if at == len(low):
            return True
        for gap in range(1, _MOST_DROPPED + 1):
            if there_low[index + gap :][: len(low) - at] == low[at:] and _names(there[index : index + gap]):
                return True
    return False


def _names(dropped: Sequence[str]) -> bool:
    return any(word[0].isdigit() or (word[0].isupper() and len(word) > 1) for word in dropped)
