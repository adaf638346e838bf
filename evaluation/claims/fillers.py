"""Sentences of an answer that claim nothing about the world: greetings, lead-ins, offers of help, source lists."""

from __future__ import annotations

import re

from evaluation.language.finite_verbs import has_verb
from evaluation.language.normalise import fold

_DOCS = (
    r"(?:(?:the|these|those|this|provided|given|supplied|retrieved|available|above|following|your) )*"
    r"(?:documents?|passages?|context|texts?|articles?|sources?|chunks?|excerpts?|information|materials?)"
    r"(?: (?:provided|given|above|supplied|available|you (?:gave|provided|shared)))?"
)
_ANSWER = (
    r"(?:(?:a|an|the|your|my|some|brief|short|quick|detailed|complete|full|step-by-step|key|main) )*"
    r"(?:answers?|summary|list|overview|breakdown|information|details|explanation|response|points|steps|facts|results?)"
)
_AGREE = r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|great|no problem|gladly|understood|well)"
_HELP = r"(?:let me know|feel free|ask|happy to|glad to|reach out|please|hesitate)"

_FILLERS = tuple(
    re.compile(rf"(?:{_AGREE}[,!.:]? )?(?:{pattern})")
    for pattern in (
        _AGREE,
        r"(?:hello|hi|hey|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone)?(?:, \w+)?",
        r"(?:(?:that's|that is|this is|what) )?an? (?:very |really )?(?:great|good|interesting|excellent) question",
        r"(?:great|good|interesting|excellent) question",
        r"(?:many )?thank(?:s| you)(?: (?:very|so) much)?(?: for (?:asking|your|the)\b[^,;:]{0,60})?",
        r"you(?:'re| are) (?:very |most )?welcome",
        r"i hope (?:this|that|it|these)\b.{0,80}|hope (?:this|that|it) helps?\b.{0,40}",
        r"(?:please )?(?:let me know|feel free|(?:don't|do not) hesitate)\b.*",
        rf"(?:if|should) you\b.{{0,120}}\b{_HELP}\b.{{0,120}}",
        r"i(?:'m|'d be|'ll be| am| would be| will be) (?:happy|glad|here|pleased) to (?:help|assist|answer|provide)\b"
        r".{0,120}",
        r"i (?:provide|offer|give) (?:assistance|help|support|guidance)\b[^\d]{0,120}",
        r"(?:my (?:purpose|role|job|task) is|i(?:'m| am) (?:designed|trained|programmed|built|meant|made)) to "
        r"(?:help|assist|provide|answer|check|support)\b[^\d]{0,120}",
        r"please (?:consult|check|refer|see|contact|visit|verify|provide|share|rephrase|clarify|give|ask|try)\b[^\d]*",
        r"(?:as an|i am an|i'm an|being an) ai\b.{0,80}",
        rf"here(?:'s| is| are) (?:{_ANSWER}\b[^:;\d]{{0,80}}|what (?:i|we) (?:found|know)\b[^:;\d]{{0,60}})",
        rf"(?:based on|according to|from) {_DOCS}",
        r"(?:this|the|my) (?:above )?(?:answer|response|summary|information) (?:is|was) (?:based on|drawn from|"
        rf"taken from) {_DOCS}",
        r"(?:in (?:summary|short|conclusion|brief|addition)|to (?:summari[sz]e|sum up|conclude)|overall|finally|"
        r"for example|for instance|note|answer|final answer|explanation|reasoning|(?:key|main) (?:points|facts))",
        r"(?:sources?|references?|citations?|documents?)(?:[ \d\[\],;:.&-]|\band\b)*",
        r"it depends|(?:i|this) (?:may|might|could) be (?:wrong|mistaken|incorrect|outdated)",
        r"(?:more|further|additional) (?:information|details?|context|research)(?: \w+)? (?:is|are|may be|might be|"
        r"would be|could be) (?:needed|required|necessary|helpful)\b[^,;:\d]{0,80}",
    )
)
_LEAD = re.compile(
    rf"(?:{_AGREE}[,!.:]\s+)?(?:(?:based on|according to|from|as (?:stated|mentioned|described|noted) in) {_DOCS}"
    rf"(?: ?\[\d{{1,4}}\])*,\s+|(?:the )?(?:final |short )?answer(?: is)? ?:\s+|"
    rf"{_DOCS} (?:also )?(?:mentions?|states?|says?|notes?|explains?|shows?|indicates?|tells us) that\s+|"
    rf"here(?:'s| is| are) {_ANSWER} ?:\s+)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"[A-Z][\w'’-]*(?: [\w'’-]+){0,7}:[ \t]+(?=[A-Z][\w'’-]* (?:\S+ ){2,})")
_OPENERS = frozenset({"yes", "no", "correct", "true", "false", "indeed", "right", "wrong", "incorrect"})
_MARKS = " \t\n.,!?\"'()*_`:;-"


def is_filler(sentence: str) -> bool:
    """Return whether a complete sentence claims nothing. A sentence that greets and then states something is not a
    filler.
    """
    cleaned = re.sub(r"\s+", " ", fold(sentence[:400])).strip(_MARKS).casefold()
    return len(sentence) <= 400 and any(pattern.fullmatch(cleaned) for pattern in _FILLERS)


def is_opener(sentence: str) -> bool:
    """Return whether a sentence is only "yes" or "no", which depends on its question or the next sentence for its
    meaning.
    """
    return sentence.strip(_MARKS).casefold() in _OPENERS


def lead_length(sentence: str) -> int:
    """Return the length in characters of a statement's lead-in ("Based on the documents, ", "Answer: "), or 0 without
    one.

    A topic before a sentence ("The harbour: It opened in 1936.") is a lead-in too.
    """
    match = _LEAD.match(sentence)
    if match:
        return match.end()
    topic = _TOPIC.match(sentence)
    if topic is None or has_verb(topic[0]) or not has_verb(sentence[topic.end() :]):
        return 0
    return topic.end()
