"""Detect what reverses or weakens a mention (negation, alternatives), and yes-or-no answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evaluation.language.normalise import STOP_WORDS, Token
from model.english import word_list, word_set

_CUES = frozenset(
    {"not", "never", "neither", "nor", "cannot", "except", "excluding", "without", "unlikely", "isn", "hardly"}
    | {"wrongly", "mistakenly", "falsely", "incorrectly", "erroneously", "unlike"}
)
_CUE_PAIRS = frozenset(
    (pair.split("_")[0], pair.split("_")[1])
    for pair in word_list(
        "rather_than instead_of other_than apart_from no_longer false_that untrue_that incorrect_that wrong_that "
        "myth_that far_from different_from anything_but no_evidence"
    )
)
_HARMLESS_AFTER_NOT = frozenset(
    {"only", "just", "merely", "more", "less", "later", "earlier", "fewer", "exceed", "exceeding"}
)
_CLAUSE_MARKS = frozenset({".", ";", "!", "?", ":"})
_AUXILIARIES = word_set("is was are were does did do has have had can could will would should may might be been being")
_YES = frozenset({"yes", "yeah", "yep", "true", "correct", "indeed", "affirmative", "right", "certainly", "absolutely"})
_NO = frozenset({"no", "nope", "false", "incorrect", "negative", "wrong"})
_FIRST_WORDS = _AUXILIARIES | {"am", "must", "shall"}
_HARMLESS_OR = frozenset({"so", "more", "less", "not"})

Polarity = Literal["yes", "no", "both", ""]


def is_cue(tokens: Sequence[Token], index: int) -> bool:
    """Return whether tokens[index] negates what follows ("not", "never", "isn't", "rather than")."""
    word = tokens[index].lower
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if (word, following) in _CUE_PAIRS:
        return True
    if word in ("not", "cannot") or word.endswith("n't"):
        return following not in _HARMLESS_AFTER_NOT
    if word == "no":
        # In "No, it was Paris" it is an answer, in "no doubt" it affirms, and in "no more than 14" it is a bound.
        return following not in (
            "",
            ",",
            ".",
            "doubt",
            "more",
            "less",
            "fewer",
            "later",
            "earlier",
            "one",
            "-",
            "longer",
        )
    if word in ("without", "except"):
        return following not in ("doubt", "question")
    return word in _CUES


def has_cue(tokens: Sequence[Token]) -> bool:
    """Return whether any token negates."""
    return any(is_cue(tokens, i) for i in range(len(tokens)))


def negated(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Return whether tokens[start:end] is negated: "not Paris", "it isn't in Paris", "Paris is not the capital"."""
    after_cue = False
    content = 0
    for index in range(start):
        token = tokens[index]
        if token.text in _CLAUSE_MARKS or token.lower in ("but", "however", "until", "till"):
            after_cue = after_cue and token.lower == "but" and index > 0 and tokens[index - 1].lower == "anything"
        elif token.text == "," and after_cue:
            # In "Not London, Paris" the scope ends at the comma. In "not, as many think, Paris" a parenthesis follows
            # the cue.
            parenthesis = is_cue(tokens, index - 1)
            closes = tokens[index - 1].text != "," and content > 0
            after_cue = parenthesis or not closes or _opens_parenthesis(tokens, index)
        elif is_cue(tokens, index):
            after_cue, content = True, 0
        elif token.kind != "mark" and token.lower not in STOP_WORDS:
            content += 1
    return after_cue or _denied_after(tokens, end)


def _opens_parenthesis(tokens: Sequence[Token], comma: int) -> bool:
    """Return whether the comma at this index closes a parenthesis that began directly after a negation."""
    for index in range(comma - 1, 0, -1):
        if tokens[index].text == ",":
            return is_cue(tokens, index - 1)
        if tokens[index].text in _CLAUSE_MARKS:
            return False
    return False


def _denied_after(tokens: Sequence[Token], end: int) -> bool:
    """Return whether an auxiliary and a negation follow: "Paris is not ...", "Paris, however, was never ..."."""
    window = tokens[end : end + 3]
    for offset, token in enumerate(window):
        index = end + offset
        if token.lower.endswith("n't") and is_cue(tokens, index):
            return True
        if token.lower == "cannot":
            return True
        if token.lower in _AUXILIARIES and index + 1 < len(tokens):
            following = tokens[index + 1].lower
            if following in ("not", "never", "neither") and is_cue(tokens, index + 1):
                return True
            if following in ("false", "wrong", "incorrect", "untrue"):
                return True
            return following == "no" and index + 2 < len(tokens) and tokens[index + 2].lower == "longer"
        if token.kind == "mark":
            return False
    return False


def _same_clause(tokens: Sequence[Token], start: int, end: int) -> range:
    low = start
    while low > 0 and tokens[low - 1].text not in _CLAUSE_MARKS:
        low -= 1
    high = end
    while high < len(tokens) and tokens[high].text not in _CLAUSE_MARKS:
        high += 1
    return range(low, high)


def offers_alternatives(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Return whether tokens[start:end] is one of several alternatives: "Paris or London", "Paris/London"."""
    for index in _same_clause(tokens, start, end):
        if start <= index < end:
            continue
        word = tokens[index].lower
        following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
        before = tokens[index - 1].lower if index else ""
        if word == "or" and following not in _HARMLESS_OR and before != "more":
            return True
        if word == "/" and index in (start - 1, end) and following and before:
            return True
        if word == "either":
            return True
    return False


def yes_or_no(tokens: Sequence[Token]) -> Polarity:
    """Return "yes" or "no" if an answer begins with it, "both" for "yes and no", else ""."""
    words = [t.lower for t in tokens if t.kind != "mark"]
    if not words:
        return ""
    if len(words) >= 3 and words[0] in ("yes", "no") and words[1] in ("and", "or") and words[2] in ("yes", "no"):
        return "both"
    lead = 2 if words[:2] in (["it", "is"], ["that", "is"], ["this", "is"], ["that's"], ["it's"]) else 0
    first = words[lead] if lead < len(words) else words[0]
    if first in _YES and len(words) > lead + 1 and first in ("right", "correct", "true") and not lead:
        return ""  # a name, such as "Right Bank" or "True North"
    if first in _NO and first in ("negative", "wrong", "false", "incorrect") and len(words) > lead + 1 and not lead:
        return ""
    if first == "no" and len(words) > 1 and not _is_interjection(tokens):
        return ""  # not an answer, as in "No smoking signs" or "No. 5"
    return "yes" if first in _YES else "no" if first in _NO else ""


def _is_interjection(tokens: Sequence[Token]) -> bool:
    index = next(i for i, t in enumerate(tokens) if t.lower == "no")
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is None or following.text in (",", ";", ":", "-", "!"):
        return True
    if following.text == ".":
        return index + 2 >= len(tokens) or tokens[index + 2].kind != "number"
    return following.lower in (
        "it",
        "they",
        "he",
        "she",
        "you",
        "there",
        "this",
        "that",
        "the",
        "because",
        "only",
        "not",
    )


_ELLIPTICAL = _FIRST_WORDS | word_set(
    "it they he she this that these those i we you so not indeed also still yes there too"
)


def is_elliptical(tokens: Sequence[Token]) -> bool:
    """Return whether a text only affirms or denies the question: "It is.", "They don't.", "She can not"."""
    words = [t.lower for t in tokens if t.kind != "mark"]
    return 0 < len(words) <= 5 and all(w in _ELLIPTICAL or w.endswith("n't") or w == "cannot" for w in words)


def states(tokens: Sequence[Token]) -> bool:
    """Return whether a text makes a statement (it has an auxiliary verb), rather than only naming something."""
    return any(t.lower in _FIRST_WORDS or t.lower.endswith("n't") or t.lower == "cannot" for t in tokens)


def asks_yes_or_no(question: Sequence[Token]) -> bool:
    """Return whether a question asks for yes or no: it begins with an auxiliary verb and offers no alternatives."""
    words = [t.lower for t in question if t.kind != "mark"]
    return bool(words) and words[0] in _FIRST_WORDS and "or" not in words
