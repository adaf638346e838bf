"""Generate ungrammatical questions and replace words, so that a reader does not rely on word order or overlap.

As in Lewis et al. 2019, section 2.3.2 ("noisy cloze"), the question word precedes the cloze, and words are dropped and
permuted.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final

from generation.english.tokens import Token
from generation.synthetic_questions.spans import AnswerSpan

_WH: Final = {
    "date": ("when", "in what year", "what year"),
    "number": ("how many",),
    "measure": ("how much", "how many"),
    "person": ("who",),
    "place": ("where", "what place"),
    "group": ("which organization", "who", "what"),
    "name": ("what", "which"),
    "phrase": ("what",),
    "long": ("what",),
    "listed": ("what", "which"),
    "adjective": ("what kind of", "what type of"),
    "reason": ("why",),
    "purpose": ("why", "for what"),
    "manner": ("how",),
}
SYNONYMS: Final = {
    "founded": "established",
    "established": "set up",
    "established in": "set up in",
    "build": "construct",
    "built": "constructed",
    "constructed": "built",
    "begin": "start",
    "began": "started",
    "start": "begin",
    "end": "finish",
    "ended": "finished",
    "large": "big",
    "largest": "biggest",
    "big": "large",
    "small": "little",
    "important": "significant",
    "famous": "well-known",
    "country": "nation",
    "nation": "country",
    "called": "named",
    "named": "called",
    "known as": "called",
    "wrote": "authored",
    "write": "author",
    "made": "created",
    "make": "create",
    "create": "make",
    "created": "made",
    "buy": "purchase",
    "purchased": "bought",
    "help": "assist",
    "show": "demonstrate",
    "use": "employ",
    "used": "employed",
    "receive": "get",
    "received": "got",
    "obtain": "get",
    "main": "primary",
    "primary": "main",
    "mainly": "mostly",
    "usually": "typically",
    "often": "frequently",
    "killed": "slain",
    "died": "passed away",
    "children": "kids",
    "film": "movie",
    "films": "movies",
    "city": "town",
    "located": "situated",
    "situated": "located",
    "war": "conflict",
    "kind": "sort",
    "type": "kind",
    "published": "released",
    "release": "put out",
    "won": "gained",
    "win": "gain",
    "lead": "head",
    "led": "headed",
    "attempt": "try",
    "allow": "let",
    "allowed": "permitted",
    "require": "need",
    "required": "needed",
    "contain": "hold",
    "contains": "has",
    "reach": "get to",
    "become": "turn into",
    "remain": "stay",
    "occur": "happen",
    "occurred": "happened",
    "take place": "happen",
    "took place": "happened",
    "approximately": "about",
    "about": "around",
    "near": "close to",
    "over": "more than",
    "because of": "due to",
    "during": "in",
    "in order to": "to",
    "began to": "started to",
    "beginning": "start",
    "people": "persons",
    "population": "number of inhabitants",
    "inhabitants": "residents",
    "residents": "inhabitants",
    "defeat": "beat",
    "defeated": "beaten",
    "attack": "assault",
    "area": "region",
    "region": "area",
    "job": "post",
    "introduce": "bring in",
    "introduced": "brought in",
    "develop": "work out",
    "born in": "native to",
    "moved": "relocated",
    "move": "relocate",
    "announced": "made known",
    "describe": "depict",
    "described": "characterised",
    "invent": "devise",
    "invented": "devised",
    "appointed": "named",
    "elected": "voted in",
    "ruled": "governed",
    "rule": "govern",
    "oldest": "earliest",
    "early": "initial",
    "highest": "tallest",
    "quickly": "rapidly",
    "consist of": "comprise",
    "consists of": "comprises",
    "include": "comprise",
    "says": "states",
    "say": "state",
    "argue": "claim",
    "argued": "claimed",
    "believe": "think",
    "believed": "thought",
    "propose": "suggest",
    "proposed": "suggested",
    "get": "obtain",
    "give": "provide",
    "gave": "provided",
    "provide": "supply",
    "provided": "supplied",
    "cause": "bring about",
    "caused": "brought about",
}
_WORD: Final = re.compile(r"[\w-]+")


def noisy_question(tokens: Sequence[Token], first: int, last: int, answer: AnswerSpan, rng: random.Random) -> str:
    """Return a question of the words ``first:last`` without the answer, and a question word.

    The question word replaces the answer or is at the front; in the latter case the words may be permuted.
    """
    wh = rng.choice(_WH[answer.kind])
    if answer.ask and answer.kind in ("place", "group", "name", "person") and rng.random() < 0.5:
        wh = f"which {answer.ask}"
    before = [t.low if t.tag in "DPRSCTAVB" else t.text for t in tokens[first : answer.left] if t.tag not in ",;"]
    after = [
        t.low if t.tag in "DPRSCTAVB" else t.text
        for t in tokens[max(answer.end, answer.left) : last]
        if t.tag not in ",;"
    ]
    form = rng.random()
    before, after = _dropped(before, rng), _dropped(after, rng)
    if form < 0.35:
        parts = [*before, wh, *after]
    elif form < 0.75:
        parts = [wh, *before, *after]
    else:
        parts = [wh, *(after + before if rng.random() < 0.5 else _shuffled(before + after, rng))]
    text = re.sub(r" (['’]s\b|%)", r"\1", " ".join(parts))
    return text[:1].upper() + text[1:] + "?"


def _dropped(parts: list[str], rng: random.Random) -> list[str]:
    return [part for part in parts if rng.random() > 0.1]


def _shuffled(parts: list[str], rng: random.Random) -> list[str]:
    """Return the words in another order, each moved by about three positions at most (permutation noise, k = 3)."""
    keyed = [(index + rng.random() * 4, part) for index, part in enumerate(parts)]
    return [part for _, part in sorted(keyed)]


def reworded(question: str, rng: random.Random, share: float = 0.6) -> str:
    """Return the question with words replaced by synonyms from SYNONYMS, each with probability ``share``."""

    def exchange(match: re.Match[str]) -> str:
        word = match.group()
        return SYNONYMS[word] if word in SYNONYMS and rng.random() < share else word

    return _WORD.sub(exchange, question)
