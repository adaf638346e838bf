"""Pairs of a true claim and a corrupted version of it. Both versions have the same style."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from evaluation.synthetic_claims.claim_drawing import DrawnClaim
from evaluation.synthetic_claims.edits import EditedClaim
from evaluation.synthetic_claims.name_swaps import cross_subjects, has_plain_subject, has_roles, swap_name, swap_roles
from evaluation.synthetic_claims.negation import negate, remove_negation
from evaluation.synthetic_claims.numbers import change_number, has_number
from evaluation.synthetic_claims.pool import Pool
from evaluation.synthetic_claims.restyling import apply_style
from evaluation.synthetic_claims.source_text import Article
from evaluation.synthetic_claims.trailing_phrases import can_move, tail_of
from evaluation.synthetic_claims.word_swaps import has_word, swap_word


@dataclass(frozen=True, slots=True)
class Contrast:
    """A pair of claims. right: supported by the evidence. wrong: the same claim with an unsupported change."""

    right: str
    wrong: EditedClaim


@dataclass(frozen=True, slots=True)
class Setting:
    """Texts that a corruption may use: the article, the evidence window and the other articles."""

    article: Article
    window: str
    pool: Pool


Corruption = Callable[[DrawnClaim, Setting, Random], Contrast | None]


def entity(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Replace a name by another of its kind."""
    return _contrast(
        drawn.text, swap_name(drawn.text, drawn.used, setting.window, setting.article, setting.pool, chance)
    )


def number(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Change a number, date part, unit or rank."""
    return _contrast(drawn.text, change_number(drawn.text, chance, drawn.used))


def word(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Replace a quality, quantity, direction or kinship word by its opposite."""
    return _contrast(drawn.text, swap_word(drawn.text, chance, "word", setting.pool.counts))


def relation(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Replace a verb by one with another meaning."""
    return _contrast(drawn.text, swap_word(drawn.text, chance, "relation", setting.pool.counts))


def role(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Exchange agent and patient."""
    return _contrast(drawn.text, swap_roles(drawn.text, setting.article, chance))


def crossed(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Combine the subject of another sentence of the window with this predicate."""
    others = [i for i in setting.article.claimable if i not in drawn.needed]
    chance.shuffle(others)
    for index in others[:12]:
        if setting.article.sentences[index] in setting.window:
            wrong = cross_subjects(drawn.text, setting.article.resolved(index, chance), setting.article)
            if wrong is not None:
                return Contrast(drawn.text, wrong)
    return None


def added(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Replace the ending of the sentence by a detail from another article or another part of this one.

    Rarely it is added to a sentence without such an ending. It is rare because supported claims have no counterpart, so
    the addition would reveal the label.
    """
    tail = tail_of(drawn.text)
    if (tail is None) != (chance.random() < 0.06):
        return None
    body, own = drawn.text[:-1], ""
    kind = chance.choice(("in", "in year", "with", "for"))
    if tail is not None:
        if not can_move(tail):
            return None
        body, kind, own = drawn.text[: tail.start], tail.kind, tail.words
    here = _tails_here(setting, drawn, kind)
    new = chance.choice(here) if here and chance.random() < 0.5 else setting.pool.tail(kind, chance)
    if new is None or new.strip(" ,").lower() in drawn.used.lower():
        return None
    if own and abs(len(new.split()) - len(own.split())) > 2:
        return None
    new = apply_style(new, chance)
    if set(re.findall(r"\w{4,}|\d+", new)) <= set(re.findall(r"\w{4,}|\d+", setting.window)):
        return None
    lead = len(new) - len(new.lstrip(" ,"))
    return Contrast(drawn.text, EditedClaim(body + new + ".", ((len(body) + lead, len(body) + len(new)),)))


def _tails_here(setting: Setting, drawn: DrawnClaim, kind: str) -> list[str]:
    """Return the endings of that kind in the article's other sentences that the window does not contain."""
    found = []
    for index in setting.article.claimable:
        sentence = setting.article.sentences[index]
        if index not in drawn.needed and sentence not in setting.window:
            tail = tail_of(sentence)
            if tail is not None and tail.kind == kind and can_move(tail):
                found.append(tail.words)
    return found


def negation(drawn: DrawnClaim, setting: Setting, chance: Random) -> Contrast | None:
    """Negate a sentence or remove its negation.

    Half of the true claims are negated too, in all forms: they negate a changed number or name ("not in 1987").
    """
    way, short = chance.random(), chance.random() < 0.2
    taken = remove_negation(drawn.text)
    if taken is not None:
        return Contrast(drawn.text, EditedClaim(taken.text, ((taken.start, taken.end),)))
    no = negate(drawn.text, short)
    if no is None:
        return None
    plain = Contrast(drawn.text, EditedClaim(no.text, ((no.start, no.end),)))
    offset = len(no.text) - len(drawn.text)
    changed = change_number(drawn.text, chance, drawn.used)
    if changed is None:
        return plain if way < 0.1 else None
    (start, end) = changed.wrong[0]
    if way < 0.2:
        return plain
    between, after = drawn.text[max(0, no.scope - offset) : start], changed.text[end:].split()
    # The negation must apply to the number: "was not built in 1987", not "did not die of this four weeks later, on".
    if start < no.scope - offset or "," in between or len(between.split()) > 6 or len(after) > 8:
        return None
    if any(character.isdigit() for character in between + changed.text[end:]):
        return None
    denial = negate(changed.text, short)
    if denial is None:
        return None
    return Contrast(denial.text, changed) if way < 0.85 else _instead(drawn.text, changed, start, end)


def _instead(text: str, changed: EditedClaim, start: int, end: int) -> Contrast:
    """Return "in 1990, not 1987" and "in 1987, not 1990"."""
    new = changed.text[start:end]
    old_end = len(text) - (len(changed.text) - end)
    old = text[start:old_end]
    after = text[old_end:]
    right = f"{text[:old_end]} rather than {new}{after}"
    wrong = f"{changed.text[:end]} rather than {old}{after}"
    return Contrast(right, EditedClaim(wrong, ((start, end),)))


def _contrast(text: str, wrong: EditedClaim | None) -> Contrast | None:
    return None if wrong is None or wrong.text == text else Contrast(text, wrong)


CORRUPTIONS: dict[str, Corruption] = {
    "entity": entity,
    "number": number,
    "negation": negation,
    "word": word,
    "relation": relation,
    "role": role,
    "crossed": crossed,
    "added": added,
}


# Fast tests of whether a kind may apply to a sentence; they may accept too many sentences.
SUITED: dict[str, Callable[[str, Article], bool]] = {
    "number": lambda sentence, article: has_number(sentence),
    "word": lambda sentence, article: has_word(sentence, "word"),
    "relation": lambda sentence, article: has_word(sentence, "relation"),
    "added": lambda sentence, article: tail_of(sentence) is not None,
    "role": has_roles,
    "crossed": lambda sentence, article: has_plain_subject(sentence),
}
