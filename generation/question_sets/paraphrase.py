"""Paraphrase questions with another question form and with synonyms."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from generation.question_sets.candidate import Candidate
from generation.synthetic_questions.recurring import stems
from model.english import word_set

# Words that are synonyms in nearly every sentence, in the inflected form that questions use.
_SYNONYMS: Final = {
    **{"build": "construct", "built": "constructed", "begin": "start", "began": "started", "start": "begin"},
    **{"started": "began", "founded": "established", "established": "set up", "buy": "purchase"},
    **{"bought": "purchased", "require": "need", "required": "needed", "need": "require", "needed": "required"},
    **{"receive": "get", "received": "got", "obtain": "get", "allow": "permit", "allowed": "permitted"},
    **{"show": "display", "finish": "complete", "completed": "finished", "complete": "finish"},
    **{"reach": "arrive at", "lead": "head", "led": "headed", "choose": "select", "chosen": "selected"},
    **{"select": "choose", "selected": "chosen", "repaired": "mended", "kept": "retained", "keep": "retain"},
    **{"purchased": "bought", "purchase": "buy", "hire": "employ"},
    **{"hired": "taken on", "discovered": "found", "discover": "find", "invented": "devised", "invent": "devise"},
    **{"publish": "bring out", "published": "brought out", "released": "brought out", "release": "bring out"},
    **{"demolished": "torn down", "destroyed": "wrecked"},
    **{"moved": "relocated", "move": "relocate", "delivered": "handed over", "collected": "gathered"},
    **{"checked": "inspected", "inspected": "checked", "appointed": "named", "renamed": "given a new name"},
    **{"organize": "arrange", "organized": "arranged", "attempt": "try"},
    **{"become": "turn into", "remain": "stay", "occur": "happen", "occurred": "happened", "return": "come back"},
    **{"die": "pass away", "died": "passed away", "marry": "wed", "attend": "go to"},
    **{"enter": "go into", "create": "make", "created": "made", "acquire": "gain"},
    **{"acquired": "taken over", "defeat": "beat", "defeated": "beaten", "conquer": "take", "conquered": "taken"},
    **{"ended": "finished", "stopped": "halted", "expand": "grow"},
    **{"approved": "authorised", "approve": "authorise", "covered": "coated", "abolished": "done away with"},
    **{"declare": "proclaim", "declared": "proclaimed", "award": "give", "awarded": "given", "adopt": "take up"},
    **{"adopted": "taken up", "introduced": "brought in", "introduce": "bring in", "transferred": "moved"},
    **{
        "replaced": "superseded",
        "offered": "made available",
        "opened": "inaugurated",
    },
    **{"killed": "slain", "employees": "staff members", "customers": "clients", "customer": "client"},
    **{
        "children": "youngsters",
        "film": "movie",
        "films": "movies",
        "inhabitants": "residents",
    },
    **{"large": "big", "big": "large", "yearly": "annual", "annual": "yearly", "whole": "entire"},
    **{"rapidly": "quickly", "quickly": "rapidly", "mainly": "chiefly", "primary": "main", "main": "chief"},
    **{"error": "mistake", "mistake": "error", "fault": "defect", "defect": "fault"},
    **{"instruments": "devices", "instrument": "device", "invoice": "bill", "salary": "pay", "trip": "journey"},
    **{"boats": "vessels", "ships": "vessels", "ship": "vessel"},
}
_FORMS: Final = (
    (re.compile(r"^When (was|were|did|is|are|does|do) "), None),
    (re.compile(r"^How many (\w+s) (did|do|does|can|must|were|was|are) "), r"What number of \1 \2 "),
    (re.compile(r"^Who (?=(?!(?:did|does|do|is|are|was|were|had|has|have) )\w)"), "Which person "),
    (re.compile(r"^Where (did|does|do|was|were) "), r"In what place \1 "),
    (re.compile(r"^For how long (is|are|was|were|must|may|can|did|does|do) "), r"How long \1 "),
    (re.compile(r"^How much (?:money )?(did|does|do) "), r"What amount of money \1 "),
)
_NOUNS: Final = word_set(
    "employees customers customer children film films inhabitants illness error mistake fault defect instruments "
    "instrument invoice salary trip boats ships ship large big yearly annual whole primary main"
)
_VERBS: Final = frozenset(_SYNONYMS) - _NOUNS
_NOUN_BEFORE: Final = re.compile(
    r"(?:\b(?:the|a|an|every|each|next|first|last|of|for|with|in|on|at|by|new|no|own|his|its|their)|['’]s) $"
)
_PARTICLE: Final = re.compile(r" (?:up|out|off|down|over|back|away|into|together)\b")
_TWICE: Final = re.compile(r"\b(\w+) \1\b")
_YEAR: Final = re.compile(r"\d{3,4}")
_WORD: Final = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")
_AN: Final = re.compile(r"\b(an?) (?=(\w))")


def paraphrase(candidate: Candidate, evidence: str) -> Candidate | None:
    """Return a paraphrase that shares fewer words with the evidence; None if no rule applies.

    evidence: the sentence that contains the answer.
    """
    swapped = _synonyms(candidate.text, evidence)
    if swapped == candidate.text:
        return None
    text = _form(swapped, candidate.references[0] if candidate.references else "")
    if _TWICE.search(text) or _overlap(text, evidence) >= _overlap(candidate.text, evidence):
        return None
    return replace(candidate, text=text, kind="paraphrase", based_on=candidate.text, clause="")


def _synonyms(question: str, evidence: str) -> str:
    low = evidence.lower()
    head, separator, rest = question.partition(" ")  # the first word is the question word

    def exchange(match: re.Match[str]) -> str:
        if _PARTICLE.match(rest, match.end()):
            return match.group()
        if match.group() in _VERBS and _NOUN_BEFORE.search(question[: len(question) - len(rest) + match.start()]):
            return match.group()
        other = _SYNONYMS.get(match.group())
        return other if other is not None and not re.search(rf"\b{re.escape(other)}\b", low) else match.group()

    changed = head + separator + _WORD.sub(exchange, rest)
    return _AN.sub(lambda m: "an " if m[2].lower() in "aeiou" else "a ", changed) if changed != question else question


def _form(question: str, answer: str) -> str:
    for pattern, other in _FORMS:
        match = pattern.match(question)
        if match is None:
            continue
        if other is not None:
            return pattern.sub(other, question)
        when = "In what year" if _YEAR.fullmatch(answer) else "On what date" if re.search(r"\b\d\d?\b", answer) else ""
        return f"{when} {question[5:]}" if when else question
    return question


def _overlap(question: str, evidence: str) -> float:
    question_stems = stems(question)
    return len(question_stems & stems(evidence)) / len(question_stems) if question_stems else 0.0
