"""Rewrite follow-up questions as standalone questions for retrieval: by rule, or with a model that writes.

The rule is for models that cannot write. It replaces a pronoun by the topic of the previous question (the words from
its first determiner or name on). A personal pronoun after "Who ...?" is replaced by the answer if that is short. A
question that only names another thing ("What about the Heron 5?") becomes the previous question, in which the new name
replaces the phrase that begins alike. If there is no such phrase and the question is elliptical
(app.service.engine.follow_ups), both questions are joined. All other questions are unchanged, however short they are.
The rule covers English, and single question words of a few other languages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.service.engine.follow_ups import ENDS, is_elliptical, opener_of, repeats
from app.service.engine.small_talk import after_small_talk, small_talk_reply

REWRITTEN_TOKENS = 64
SHOWN_EXCHANGES = 3
"""Number of earlier exchanges in the model's prompt."""
_SHOWN_CHARACTERS = 500
_PRONOUN = re.compile(
    r"\b(?P<owner>its|their|theirs|his|her|hers)\b|\b(?P<thing>it|they|them|he|she|him|these|those|"
    r"(?:this|that)(?=\s+(?:is|was|are|were|does|do|did|has|have|had|can|could|will|would|may|must|mean)\b|\s*[?.!]*$|\s+\w+\s*[?.!]*$)|"
    r"(?<=does )(?:this|that)(?= (?:take|mean|work|cost|happen|apply|include|cover|need|require|change|help|matter|"
    r"affect|depend|hold|last|start|end|expire|count|look|sound|make|go|come|get|say|imply|compare|differ|exclude|involve)\b))\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:what (?:time|day|date|year|month) (?:is|was) it|"
    r"(?:is|was|will|would|can|could|does|isn't) it (?:be )?(?:\w+ly )?"
    r"(?:possible|impossible|true|ok|okay|allowed|necessary|safe|better|best|worth|required|legal|permitted|mandatory|"
    r"important|normal|common|likely|correct|right|fine|easy|hard|difficult|advisable|recommended|mean|make sense|take|"
    r"cost|matter|rain|snow|work) (?:\w+ )?(?:to|that|if|when|for|whether|how|which)\b|"
    r"it (?:takes?|took|costs?|means?|matters?)(?: \w+){0,4} (?:to|if|when|that)\b)",
    re.IGNORECASE,
)
"""An expletive "it", which refers to nothing: "Is it possible to ...", "How long does it take to ..."."""
_RELATIVE = re.compile(r"\b(?:the|a|an|any|some|our|my|your|every|each|all)\s+(?:\w+\s+){1,3}$", re.IGNORECASE)
"""A noun phrase before a relative "that", as in "a shop that has closed"."""
_CLAUSE = re.compile(r"(?:if|when|once|after|before|because|since|while|although|unless|whenever)\b", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:the|a|an|our|my|your|any|some|each|every)\s+\w+|(?<=\s)[A-Z]\w+|\b\w*\d\w*\b")
_TOPIC = re.compile(r"\b(?:the|a|an|our|my|your|this|that|these|those)\s+\S.*|(?<=\s)(?:[A-Z]|\d)\S*.*", re.DOTALL)
_NAMED = re.compile(r"(?:(?:the|a|an|our|my|your)\s+)?(?:\w+\s+)?[A-Z0-9][\w\-/.]*(?:\s+[A-Z0-9][\w\-/.]*)*")
_SHORT_ANSWER = 4
_MAX_PHRASE_WORDS = 16
"""Maximum words of a noun phrase that replaces another."""
_EXAMINED_TURNS = 16
"""Number of earlier exchanges that the rule examines."""
_KEPT_CHARACTERS = 2_000
"""Maximum characters of each earlier question that the rule examines; a longer message is self-contained."""
_PERSONS = frozenset(("he", "she", "him", "his", "her", "hers", "they", "them", "their", "theirs"))
_SMALL = frozenset(("the", "a", "an", "our", "my", "your", "this", "that", "these", "those", "of", "in", "for", "to"))
_CITATION = re.compile(r"\s*\[\d+\]")
_LABEL = re.compile(r"^\s*(?:(?:stand-?alone|rewritten|final)?\s*question\s*:)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A question and its answer, which may be empty."""

    question: str
    answer: str


def standalone_by_rule(question: str, history: Sequence[ConversationTurn]) -> str:
    """Return the question with its references resolved; unchanged if it seems self-contained, or without an earlier
    turn.
    """
    if len(question) > _KEPT_CHARACTERS:
        return question
    before, answer = "", ""
    for exchange in history[-_EXAMINED_TURNS:]:
        earlier = exchange.question[:_KEPT_CHARACTERS]
        if not small_talk_reply(earlier):
            before, answer = _resolve(after_small_talk(earlier), before, answer), exchange.answer
    return _resolve(after_small_talk(question), before, answer) if before else question


def rewriting_task(question: str, history: Sequence[ConversationTurn]) -> str:
    """Return the prompt that asks a model to rewrite the last question so that it needs no context."""
    conversation = "\n".join(
        f"User: {exchange.question[:_SHOWN_CHARACTERS]}\nAssistant: {exchange.answer[:_SHOWN_CHARACTERS]}"
        for exchange in history[-SHOWN_EXCHANGES:]
    )
    return (
        "Rewrite the last question of this conversation as one question that can be understood without it. Where it "
        "refers to nothing that was said before, repeat it as it is. Do not answer it; write the question only."
        f"\n\n{conversation}\nUser: {question}\n\nStandalone question:"
    )


def read_rewritten(text: str) -> str:
    """Return the question in the model's output; empty if there is none."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    rewritten = _LABEL.sub("", first).strip().strip("\"'").strip()
    return rewritten if any(c.isalnum() for c in rewritten) else ""


def _resolve(question: str, before: str, answer: str) -> str:
    """Return a question with its references to the previous one resolved. answer: answer to the previous question."""
    if not before:
        return question
    if repeats(question):
        return before
    pronoun = _pronoun(question)
    if pronoun is not None:
        person = pronoun[0].lower() in _PERSONS and before.lower().startswith("who")
        topic = (_short_answer(answer) if person else "") or _topic(before)
        if topic:
            replacement = f"{topic}'s" if pronoun["owner"] else topic
            return question[: pronoun.start()] + replacement + question[pronoun.end() :]
        return f"{before.strip()} {question.strip()}"
    opener = opener_of(question)
    rest = question.strip()[len(opener) :].strip()
    elliptical = is_elliptical(question)
    name = _replace_phrase(before, rest.strip(ENDS)) if (opener and elliptical) or _is_name(rest) else ""
    return name or (f"{before.strip()} {rest}" if elliptical else question)


def _pronoun(question: str) -> re.Match[str] | None:
    """Return the first pronoun without an antecedent in the question itself."""
    expletives = [match.span() for match in _EXPLETIVE.finditer(question)]
    for match in _PRONOUN.finditer(question):
        if any(start <= match.start() < end for start, end in expletives):
            continue
        own = _NOUN.search(question[: match.start()])
        # "Does the Heron 4 come with its cable?", "If a battery fails, who replaces it?"
        if match[0].lower() == "that" and _RELATIVE.search(question[: match.start()]):
            continue
        if own is not None and (match["owner"] or _CLAUSE.match(question.lstrip())):
            continue
        return match
    return None


def _is_name(text: str) -> bool:
    """Return whether the text is a noun phrase with a name, a number or a code, which replaces the topic of the
    previous question.
    """
    return bool(_NAMED.fullmatch(text.strip(ENDS)))


def _replace_phrase(before: str, name: str) -> str:
    """Return the previous question with ``name`` in place of the words that begin alike; empty if there are none."""
    phrase, words = name.split(), before.split()
    if len(phrase) > _MAX_PHRASE_WORDS:
        return ""
    if phrase and phrase[0].lower() in _SMALL:
        phrase[0] = phrase[0].lower()
    for common in range(len(phrase) - 1, 0, -1):
        if all(word.lower() in _SMALL for word in phrase[:common]):
            break
        for start in range(len(words) - common, -1, -1):
            if [w.lower().strip(ENDS) for w in words[start : start + common]] == [w.lower() for w in phrase[:common]]:
                end = min(start + len(phrase), len(words))
                mark = "?" if words[end - 1].endswith("?") else ""
                return " ".join([*words[:start], " ".join(phrase) + mark, *words[end:]])
    return ""


def _short_answer(answer: str) -> str:
    """Return the answer if it is about as short as a name; empty for a longer one."""
    plain = _CITATION.sub("", answer).strip(ENDS)
    return plain if 0 < len(plain.split()) <= _SHORT_ANSWER else ""


def _topic(question: str) -> str:
    """Return the topic of a question: from its first determiner or name to its end; empty if it has neither."""
    match = _TOPIC.search(question)
    return match[0].strip(ENDS) if match is not None else ""
