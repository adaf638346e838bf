"""Convert a clause with an answer to a question: choose the question word, and invert subject and verb.

The method is that of Lewis et al. 2019, "Unsupervised Question Answering by Cloze Translation", section 2, with rules
in place of the learned translation.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final

from generation.english import words
from generation.english.tokens import Token, base_form, joined
from generation.english.verbs import BASES
from generation.synthetic_questions.clauses import Clause
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

_TIME_PREPOSITIONS: Final = word_set("in on at by since during around from until after before")
_PLACE_PREPOSITIONS: Final = word_set("in at to near on from into")
_PURPOSE_VERBS: Final = word_set(
    "use build create design develop establish introduce travel move return go found form organize pass send employ "
    "come take construct invent launch hire write leave install adopt"
)
_GIVING: Final = word_set("give call name elect appoint award teach grant make pay offer send consider show")
_AGENT_VERBS: Final = word_set(
    "wrote founded argued married invented composed painted directed developed proposed discovered succeeded said "
    "published led won became defeated designed introduced described believed studied taught killed played"
)


def question_for_answer(
    tokens: Sequence[Token], clause: Clause, answer: AnswerSpan, subject: Sequence[Token], rng: random.Random
) -> str | None:
    """Return a question whose answer is ``answer``; None if no rule applies.

    tokens: the sentence. subject: the words to show as the clause's subject, with a name in place of a pronoun.
    """
    inside_subject = clause.subject[0] <= answer.left and answer.right <= clause.subject[1]
    if inside_subject:
        return _about_subject(tokens, clause, answer, rng)
    if clause.intro[0] <= answer.left and answer.right <= clause.intro[1]:
        before, after = tokens[clause.intro[0] : answer.left], tokens[answer.right : clause.intro[1]]
        rest = list(tokens[clause.verb + 1 : clause.end])
        return _inverted(tokens, clause, answer, subject, [], before, [*after], rest, rng)
    if answer.left <= clause.verb:
        return None
    before = list(tokens[clause.verb + 1 : answer.left])
    after = list(tokens[answer.right : clause.end])
    return _inverted(tokens, clause, answer, subject, before, [], [], after, rng)


def _about_subject(tokens: Sequence[Token], clause: Clause, answer: AnswerSpan, rng: random.Random) -> str | None:
    start, end = clause.subject
    verb = _verb_onwards(tokens, clause, rng)
    if answer.left == start and answer.right == end:
        return _sentence([_wh(tokens, answer, None, verb[0].low, rng), *_texts(verb)])
    phrase = tokens[answer.left : answer.right]
    before, after = tokens[start : answer.left], tokens[answer.right : end]
    if answer.left == start:
        if answer.kind in ("number", "measure"):
            return _sentence([_wh(tokens, answer, None, verb[0].low, rng), *_texts(after), *_texts(verb)])
        return None
    if after and after[0].tag in "C,":
        return None
    if before and before[-1].tag == "P" and phrase:
        wh = _wh(tokens, answer, None, "", rng)
        wh = {"when": "what time", "where": "which place"}.get(wh, wh)
        return _sentence([*_texts(before), wh, *_texts(after), *_texts(verb)])
    return None


def _inverted(
    tokens: Sequence[Token],
    clause: Clause,
    answer: AnswerSpan,
    subject: Sequence[Token],
    before: Sequence[Token],
    intro_before: Sequence[Token],
    intro_after: Sequence[Token],
    after: Sequence[Token],
    rng: random.Random,
) -> str | None:
    lead = list(before or intro_before)
    clausal = answer.kind in ("reason", "purpose", "manner")
    preposition = lead[-1] if lead and lead[-1].tag == "P" and not clausal else None
    auxiliary, base = _turned(tokens, clause)
    if auxiliary is None or not _is_answerable(tokens, clause, answer, lead, after):
        return None
    wh = _wh(tokens, answer, preposition, tokens[clause.verb].low, rng)
    dropped = preposition is not None and (
        (answer.kind == "date" and preposition.low in _TIME_PREPOSITIONS and wh in ("when", "what year"))
        or (wh == "where" and preposition.low in ("in", "at", "to", "near", "on", "into"))
    )
    front: list[str] = []
    kept = list(before)
    if preposition is not None and before:
        kept = kept[:-1]
        if not dropped:
            often = 0.7 if " " in wh else 0.2
            if preposition.low not in ("of", "as", "than", "like") and (
                rng.random() < often or answer.kind in ("date", "number", "measure")
            ):
                front = [preposition.low]
            else:
                kept = [*kept, preposition]
    elif preposition is not None and not dropped:
        front = [preposition.low]
    if front and wh == "who":
        wh = "whom"
    if wh == "what year" and not front:
        front = ["in"]
    if wh.endswith("percentage") and after and after[0].low == "of":
        wh, after = _with_of(wh, after)
    tail = _shortened([*intro_after, *after], rng)
    shown = [auxiliary, *_texts(subject), *([base] if base else []), *_texts(kept), *_texts(tail)]
    return _sentence([*front, wh, *shown])


def _is_answerable(
    tokens: Sequence[Token], clause: Clause, answer: AnswerSpan, lead: Sequence[Token], after: Sequence[Token]
) -> bool:
    """Return whether the clause is coherent without the answer.

    lead, after: the words before and after the answer.
    """
    if clause.end < len(tokens) and tokens[clause.end].low == "that" and tokens[clause.subject[0]].low == "it":
        return False  # an expletive "it": "it is noted that"
    if lead and (
        lead[0].tag == "C" or (lead[-1].tag in "DC,TJ#R" and answer.kind not in ("reason", "purpose", "manner"))
    ):
        return False
    if (
        len(lead) > 1
        and lead[-1].tag == "P"
        and (lead[-2].tag == "P" or lead[-2].low in ("well", "such", "more", "less"))
    ):
        return False
    if after and after[0].tag == "C":
        return False
    if len(lead) > 1 and lead[-2].tag == "D" and lead[-1].tag in "GB":
        return False
    loose = answer.kind in ("date", "reason", "purpose", "manner")
    if (
        not loose
        and answer.left > clause.verb
        and lead
        and lead[-1].tag in "NX"
        and base_form(tokens[clause.verb].low) not in _GIVING
    ):
        return False
    if answer.kind == "purpose":
        verb = tokens[clause.verb]
        does = (base_form(verb.low) or verb.low) if verb.tag == "V" else lead[0].low if lead else ""
        return (base_form(does) or does) in _PURPOSE_VERBS
    return not (answer.kind in ("date", "measure", "number") and lead and lead[-1].low == "of")


def _with_of(wh: str, after: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Move the words after "of" to the question word: "what percentage of the voters"."""
    end = 1
    while end < len(after) and after[end].tag in "DJNX" and end < 6:
        end += 1
    return " ".join([wh, *_texts(after[:end])]), after[end:]


def _turned(tokens: Sequence[Token], clause: Clause) -> tuple[str | None, str | None]:
    """Return the auxiliary to place before the subject, and the verb form that remains after it, if any."""
    verb = tokens[clause.verb]
    if clause.helper is not None:
        return tokens[clause.helper].low, verb.low
    if verb.tag == "A":
        following = tokens[clause.verb + 1].tag if clause.verb + 1 < clause.end else "."
        if verb.low in ("had", "has", "have") and following not in "BT":
            return ("did" if verb.low == "had" else "does" if verb.low == "has" else "do"), "have"
        return verb.low, None
    base = base_form(verb.low)
    if base is None:
        return ("do", verb.low) if verb.low in BASES else (None, None)
    past = not verb.low.endswith("s") or verb.low in ("was",)
    return ("did" if past else "does"), base


def _verb_onwards(tokens: Sequence[Token], clause: Clause, rng: random.Random) -> list[Token]:
    verb = tokens[clause.verb]
    helper = [tokens[clause.helper]] if clause.helper is not None else []
    return [*helper, verb, *_shortened(list(tokens[clause.verb + 1 : clause.end]), rng)]


def _shortened(rest: list[Token], rng: random.Random) -> list[Token]:
    """Return the words truncated before a preposition or comma, to a random limit of at most twelve words."""
    for index in range(1, len(rest) - 1):
        if rest[index].tag == "C" and rest[index + 1].tag in "#P":
            rest = rest[:index]
            break
    if len(rest) > 1 and rest[-1].tag == "J" and rest[-2].tag in "DJ":
        rest = rest[:-2]
    while rest and (rest[-1].tag in ",;CDPST" or rest[-1].low in ("such", "well", "not", "including")):
        rest = rest[:-1]
    limit = rng.choice((5, 7, 9, 12))
    if len(rest) <= limit:
        return rest
    cuts = [i for i in range(3, len(rest)) if rest[i].tag in "P," and rest[i].low not in ("of", "to")]
    good = [i for i in cuts if i <= limit]
    cut = good[-1] if good else cuts[0] if cuts else len(rest)
    return rest[:cut]


def _wh(tokens: Sequence[Token], answer: AnswerSpan, preposition: Token | None, verb: str, rng: random.Random) -> str:
    phrase = tokens[answer.left : answer.right]
    head = phrase[-1].low
    near = preposition.low if preposition is not None else ""
    kind = answer.kind
    which = "which" if rng.random() < 0.3 else "what"
    if kind == "date":
        text = joined(list(tokens[answer.start : answer.end]))
        if near == "in" and text.isdigit() and rng.random() < 0.5:
            return "what year"
        if head.startswith("centur") and rng.random() < 0.6:
            return f"{which} century"
        return "when"
    if kind == "number":
        rest = list(tokens[answer.end : answer.right])
        return "how many " + joined(rest)
    if kind == "measure":
        if answer.ask == "percentage":
            return which + " percentage"
        if answer.ask == "money":
            return "how much" + (" money" if rng.random() < 0.3 else "")
        for how, units in words.QUANTITY_OF_UNIT.items():
            if answer.ask in units and near in ("", "for"):
                return how
        return "how many " + answer.ask
    if kind == "person":
        return f"{which} {answer.ask}" if answer.ask and rng.random() < 0.4 else "who"
    if kind == "adjective":
        noun = joined(list(tokens[answer.end : answer.right]))
        national = answer.ask == "nationality" and head in words.PERSON_NOUNS
        return (
            f"{which} nationality of {noun}"
            if national
            else rng.choice((f"what kind of {noun}", f"what type of {noun}", f"which {noun}"))
        )
    if kind in ("reason", "purpose"):
        return "why" if kind == "reason" or rng.random() < 0.7 else "for what purpose"
    if kind == "manner":
        return "how"
    if kind in ("place", "group", "name"):
        if kind == "place" and near in _PLACE_PREPOSITIONS and (not answer.ask or rng.random() < 0.5):
            return "where"
        if answer.ask:
            return f"{which} {answer.ask}"
        if kind == "place":
            return f"{which} place"
        return "who" if verb in _AGENT_VERBS or near == "by" else "what"
    if head in words.PERSON_NOUNS:
        return "who"
    adjectives = answer.end - answer.start > 1 and tokens[answer.start].tag == "J" and answer.left == answer.start
    if kind == "phrase" and adjectives and phrase[-1].tag == "N" and rng.random() < 0.3:
        return rng.choice(("what kind of ", "what type of ", "what ")) + head
    return "what"


def _texts(tokens: Sequence[Token]) -> list[str]:
    # Only names keep their capital; other capitals are at the beginning of a sentence.
    return [
        token.low if token.tag in "DRT" or (token.tag != "X" and token.text[1:].islower()) else token.text
        for token in tokens
    ]


def _sentence(parts: Sequence[str]) -> str:
    text = " ".join(part for part in parts if part)
    text = re.sub(r" ([,%]|['’]s?(?= ))", r"\1", text)
    text = text.rstrip(" ,")
    return text[:1].upper() + text[1:] + "?"
